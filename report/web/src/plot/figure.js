// SPDX-License-Identifier: MIT
// A chart that is drawn alone: what ../figure.js shows on the page is kept here until it is wanted.
import * as echarts from "echarts/core";
import { BarChart, CustomChart, HeatmapChart, LineChart, ScatterChart } from "echarts/charts";
import {
    AriaComponent,
    DataZoomInsideComponent,
    GridSimpleComponent,
    LegendPlainComponent,
    MarkLineComponent,
    VisualMapContinuousComponent,
} from "echarts/components";
import { SVGRenderer } from "echarts/renderers";
import { el } from "./dom.js";
import { heightOf } from "../option.js";

echarts.use([
    BarChart,
    CustomChart,
    HeatmapChart,
    LineChart,
    ScatterChart,
    AriaComponent,
    DataZoomInsideComponent,
    GridSimpleComponent,
    LegendPlainComponent,
    MarkLineComponent,
    VisualMapContinuousComponent,
    SVGRenderer,
]);

export function figure(given) {
    const element = el("figure");
    element.chart = { ...given, height: heightOf(given.height) };
    return element;
}

export function startCharts() {}

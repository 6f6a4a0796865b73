// SPDX-License-Identifier: MIT
// A chart as an option of ECharts, on the page and as it is saved.
import * as echarts from "echarts/core";
import { platformApi } from "zrender/lib/core/platform.js";
import { moreLegend } from "./chart.js";
import { asSaved, colour, fontFamily, isSaved } from "./theme.js";
import { savedWidth } from "./widths.js";

const SAVED_FONT = "Arial, Helvetica, sans-serif";

// Texts are placed by their middle. Few programs but browsers know the word for it, and all know a shift of the
// baseline; a capital of Arial is 0.7 em high.
const CENTRAL = ' dominant-baseline="central"';
const LOWERED = ' dy="0.35em"';

// Texts of saved charts have the same width everywhere, whatever fonts there are.
const measureText = platformApi.measureText;
platformApi.measureText = (words, font) =>
    font && font.includes(SAVED_FONT) ? { width: savedWidth(words, font) } : measureText(words, font);

// What all charts share; `option` of a chart is laid over it.
function base() {
    return {
        animation: false,
        backgroundColor: "transparent",
        textStyle: {
            color: colour("ink"),
            fontFamily: isSaved() ? SAVED_FONT : fontFamily(),
            fontSize: 12,
        },
        tooltip: {
            confine: true,
            backgroundColor: colour("surface"),
            borderColor: colour("line"),
            textStyle: { color: colour("ink"), fontSize: 12 },
            extraCssText:
                "box-shadow: 0 2px 10px rgba(0,0,0,.15); white-space: normal; max-width: 320px;",
        },
    };
}

// Leave out the symbols of points that are not marked. A symbol that is a function of the point would not be
// known to the legend, which would draw a circle for each line.
function markSome(series) {
    if (!series.marked) return series;
    const bare = (point) => (Array.isArray(point) ? { value: point } : point);
    const data = series.data.map((point, i) =>
        series.marked(i) ? point : { ...bare(point), symbol: "none" },
    );
    return { ...series, data, marked: undefined };
}

export function spanOf(instance) {
    const zoom = instance.getOption().dataZoom?.[0];
    return zoom ? { start: zoom.start, end: zoom.end } : null;
}

// The option of a chart at a width, with the zoom and the hidden lines of the one that is on the page.
export function optionOf(chart, width) {
    const shown = chart.instance && chart.instance.getOption() ? chart.instance.getOption() : null;
    const kept = shown ? spanOf(chart.instance) : null;
    const legend = shown?.legend?.[0]?.selected;
    const option = { ...base(), ...chart.build(width) };
    option.series = [].concat(option.series).map(markSome);
    option.tooltip =
        option.tooltip === false ? undefined : { ...base().tooltip, ...option.tooltip };
    if (kept && option.dataZoom)
        for (const zoom of option.dataZoom)
            if (!zoom.yAxisIndex && zoom.orient !== "vertical") Object.assign(zoom, kept);
    if (legend && option.legend) option.legend.selected = legend;
    return option;
}

// On paper nothing can be moved: no sliders, and a legend with all its names. Returns the pixels that the
// chart is higher.
export function settle(option, width) {
    let more = 0;
    if (option.dataZoom) {
        option.dataZoom = option.dataZoom.filter(
            (zoom) => zoom.type === "inside" || zoom.orient === "vertical",
        );
        if (isSaved()) for (const zoom of option.dataZoom) zoom.type = "inside"; // a range without a bar
        option.grid = { ...option.grid, bottom: 30 };
    }
    if (option.legend && option.legend.type === "scroll") {
        const names = [...new Set(option.series.map((one) => one.name).filter(Boolean))];
        const extra = moreLegend(names, width);
        option.legend = { ...option.legend, type: "plain" };
        option.grid = { ...option.grid, top: option.grid.top + extra };
        more += extra;
    }
    if (isSaved() && option.series.some((one) => one.type === "bar"))
        option.aria = { enabled: true, label: { enabled: false }, decal: { show: true } };
    if (isSaved() && option.legend && option.series.some((one) => one.type === "line")) {
        // lines with their dashes and symbols
        option.legend = { ...option.legend, icon: undefined, itemWidth: 28 };
    }
    if (option.visualMap?.show) {
        option.grid = { ...option.grid, bottom: (option.grid.bottom || 0) + 22 };
        more += 22;
    }
    return more;
}

// The height of a chart as a function of its width; it is given as such, as a number, or not at all.
export function heightOf(height = 260) {
    return typeof height === "function" ? height : () => height;
}

// A chart as a text of SVG, black on white, `width` px wide: {svg, width, height}.
export function svgOf(chart, width) {
    return asSaved(() => {
        const option = { ...optionOf(chart, width), backgroundColor: "#ffffff" };
        const height = Math.ceil(chart.height(width) + settle(option, width));
        const instance = echarts.init(null, null, { renderer: "svg", ssr: true, width, height });
        instance.setOption(option);
        const svg = instance.renderToSVGString({ useViewBox: true });
        instance.dispose();
        return { svg: svg.split(CENTRAL).join(LOWERED), width, height };
    });
}

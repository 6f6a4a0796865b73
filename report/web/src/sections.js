// SPDX-License-Identifier: MIT
// The sections that results may have, in the order in which a reader asks. Each is a function that returns its
// element, or null where the results have nothing for it.
import { assumptionsSection } from "./assumptions.js";
import { diagnosisSection } from "./diagnosis.js";
import { jobsSection } from "./jobs.js";
import { linksSection } from "./links.js";
import { measuredSection } from "./measured.js";
import { memorySection } from "./memory.js";
import { messagesSection } from "./messages.js";
import { pausesSection } from "./pauses.js";
import { policiesSection } from "./policies.js";
import { seriesSection } from "./series.js";
import { sweepSection } from "./sweep.js";
import { timeSection } from "./time.js";
import { timelineSection } from "./timeline.js";
import { whySection } from "./why.js";

export const SECTIONS = [
    diagnosisSection,
    policiesSection,
    assumptionsSection,
    sweepSection,
    whySection,
    timeSection,
    messagesSection,
    measuredSection,
    jobsSection,
    seriesSection,
    linksSection,
    pausesSection,
    memorySection,
    timelineSection,
];

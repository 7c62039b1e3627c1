// Reports of evaluations for people and for CI. Programs that only evaluate do not load them.
export { type HtmlReportOptions, htmlReport } from './report/html/html-report.ts'
export { type JunitReportOptions, junitReport } from './report/junit-report.ts'
export { markdownReport } from './report/markdown-report.ts'
export type { NamedReportOptions, ReportOptions, ReportPart } from './report/options.ts'
export { type EvalPlan, type PlannedGate, planEval, planText } from './report/plan-report.ts'
export { type TextReportOptions, textReport } from './report/text-report.ts'

// Reports of evaluations for people and for CI. Programs that only evaluate do not load them.
export { markdownReport } from './report/markdown-report.ts'
export { textReport } from './report/text-report.ts'

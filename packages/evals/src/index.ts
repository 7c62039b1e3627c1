// Cases
export type { EvalCase } from './cases/case.ts'
export { parseCases, readCases } from './cases/jsonl.ts'
// Gates and their statistics
export type { Gate, GateReport } from './gates/gate.ts'
// Reports
export type { Calibration } from './report/calibration.ts'
export type {
  CaseReport,
  EvalCall,
  EvalDecision,
  EvalReport,
  ScoreReport,
  ScorerSummary,
  TrialReport,
} from './report/report.ts'
export { readReport, writeReport } from './report/report-file.ts'
// Evaluations
export type { EvalAgent, EvalResult, EvalRunOptions } from './run/agent.ts'
export { type CheckedEval, defineEval } from './run/define-eval.ts'
export { evaluate } from './run/evaluate.ts'
export type { EvalDefinition, EvalProgress, EvaluateOptions } from './run/options.ts'
export type { EvalRun, Score, Scorer } from './run/run.ts'
export { type CalibrateOptions, calibrate, type LabelledAnswer } from './scorers/calibrate.ts'
export * as score from './scorers/index.ts'
export { type BoundMean, type GaffkeOptions, gaffke, type MeanBounds } from './statistics/gaffke.ts'
export { type Plan, type PlannedPower, type PlanOptions, plan } from './statistics/plan.ts'
export type { Verdict } from './statistics/verdicts.ts'
export type { WorldName } from './statistics/worlds.ts'

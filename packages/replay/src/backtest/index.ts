export { type BacktestAgent, type BacktestOptions, backtest } from './backtest.ts'
export type { BacktestChange, BacktestChangeKind } from './judge-turn.ts'
export type { CallOutcome } from './recorded-calls.ts'
export type { BacktestLayerChanges, BacktestReport } from './report.ts'

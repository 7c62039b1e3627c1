export { type OperatorOptions, operator } from './operations/operator.ts'
export type { CanOperate, OperatorRights } from './operations/rights.ts'
export type { Operate } from './options/options.ts'

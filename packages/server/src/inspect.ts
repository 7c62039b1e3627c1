export { type InspectorOptions, inspector } from './inspect/inspector.ts'
export type * from './inspect/records.ts'
export type { StoredTurnView } from './inspect/stored-turns.ts'
export type { Inspect } from './options/options.ts'

export type { RecallLanguage } from './language.ts'
export { recall } from './recall.ts'
export type { RecallOptions } from './recall-options.ts'
export type { Recalled } from './recaller.ts'

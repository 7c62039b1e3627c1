export { type PersistOptions, persist } from './persist.ts'
export { type TruncateOptions, truncate } from './truncate.ts'

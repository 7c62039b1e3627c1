export { type PersistOptions, persist } from './persist.ts'

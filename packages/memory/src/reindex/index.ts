export { type ReindexedSession, type ReindexOptions, reindex } from './reindex.ts'

// What other packages of this repository use. It is not part of the public API and may change in any version.
export { AbandonedError } from './errors/abandoned-error.ts'
export { describe } from './errors/describe.ts'
export { isPlain } from './errors/plain.ts'
export { merged } from './messages/join-deltas.ts'
export { consoleLogger, safeLogger } from './seams/logger.ts'

import type { TypedMiddleware } from '@allium/core'
import { type Logger, pino } from 'pino'
import { type LogOptions, log as logTo } from './log.ts'

export interface PinoLogOptions extends Omit<LogOptions, 'logger'> {
  /** @default pino(), which writes to the standard output */
  logger?: Logger
}

/**
 * `observe.log` with pino: to the standard output, unless it is given a logger of its own.
 *
 * @example
 * import { log } from '@allium/observe/pino'
 * agent.use(log())
 */
export function log({ logger = pino(), ...options }: PinoLogOptions = {}): TypedMiddleware<{}> {
  return logTo({ logger, ...options })
}

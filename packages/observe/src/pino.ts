import type { TypedMiddleware } from '@allium/core'
import { type Level, type Logger, pino } from 'pino'
import { type LogOptions, log as logTo } from './log.ts'

export interface PinoLogOptions extends Omit<LogOptions, 'logger'> {
  /** @default one that writes to `to` from `level` on */
  logger?: Logger | undefined
  /** The least that is logged, as pino names it. @default 'info' */
  level?: Level | undefined
  /** @default 'stdout' */
  to?: 'stdout' | 'stderr' | undefined
}

/**
 * `observe.log` with pino: to the standard output, unless it is given a logger of its own.
 *
 * @example
 * import { log } from '@allium/observe/pino'
 * agent.use(log())
 */
export function log({ level = 'info', to = 'stdout', logger, ...options }: PinoLogOptions = {}): TypedMiddleware<{}> {
  return logTo({ logger: logger ?? pino({ level }, pino.destination(to === 'stderr' ? 2 : 1)), ...options })
}

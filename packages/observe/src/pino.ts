// Makes the bundler put what the entries share into one file.
import './index.ts'
import type { TypedMiddleware } from '@allium/core'
import { type Level, type Logger, pino } from 'pino'
import { type LogOptions, log as logTo } from './log.ts'

export interface PinoLogOptions extends Omit<LogOptions, 'logger'> {
  /** @default one that writes to `to` from `level` up */
  logger?: Logger | undefined
  /** The minimum level, by pino's names. @default 'info' */
  level?: Level | undefined
  /** @default 'stdout' */
  destination?: 'stdout' | 'stderr' | undefined
}

/**
 * `observe.log` with pino. It logs to standard output unless a logger is passed.
 *
 * @example
 * import { log } from '@allium/observe/pino'
 * agent.use(log())
 */
export function log({
  level = 'info',
  destination = 'stdout',
  logger,
  ...options
}: PinoLogOptions = {}): TypedMiddleware<{}> {
  return logTo({ logger: logger ?? pino({ level }, pino.destination(destination === 'stderr' ? 2 : 1)), ...options })
}

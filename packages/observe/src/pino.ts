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
 * `observe.log` with pino. It logs to standard output unless a logger is passed. Layers with the same level and destination share a logger.
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
  return logTo({ logger: logger ?? sharedLogger(level, destination === 'stderr' ? 2 : 1), ...options })
}

/** By level and file descriptor. Agents share loggers, so that a sub-agent that has the layer, too, is logged once. */
const loggers = new Map<string, Logger>()

function sharedLogger(level: Level, fd: 1 | 2): Logger {
  const key = `${level}:${fd}`
  const logger = loggers.get(key) ?? pino({ level }, pino.destination(fd))
  loggers.set(key, logger)
  return logger
}

import type { TurnView } from '@allium/core'
import { isReplaying } from '@allium/core/context'
import { isSecretName } from '@allium/shared/detect'
import { ignoreFailure } from './ignore-errors.ts'
import { oneLine } from './one-line.ts'
import { type PlainOptions, toPlainData } from './plain-data.ts'
import { runLocation } from './run-location.ts'
import { withoutSecrets } from './secrets.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Writes records: pino, or a logger with the same interface. */
export interface LogTarget extends Record<LogLevel, (fields: object, message: string) => unknown> {
  isLevelEnabled?(level: string): boolean
}

/**
 * `start`: a turn or a call begins. `end`: it has ended. `trouble`: a call was denied or failed, or a turn was blocked.
 * `failed`: a turn failed.
 */
export type LogMoment = 'start' | 'end' | 'trouble' | 'failed'

export interface LogWriterOptions {
  readonly logger: LogTarget
  readonly levels?: Partial<Record<LogMoment, LogLevel>> | undefined
  /** Names of fields that are hidden, in addition to credentials. */
  readonly hide?: readonly string[] | undefined
  /** The maximum length of a text in characters. */
  readonly maxLength?: number | undefined
}

/** The begin or the end of a turn or a call. */
interface LogRecord {
  readonly what: 'turn' | 'model' | 'tool'
  readonly moment: LogMoment
  /** How it ended; absent at its begin. */
  readonly status?: string
  fields(): object
}

export type WriteLog = (ctx: TurnView, record: LogRecord) => void

/** Returns a function that writes records about a run. */
export function logWriter({ logger, levels, hide = [], maxLength = 2000 }: LogWriterOptions): WriteLog {
  const levelOf = { start: 'debug', end: 'info', trouble: 'warn', failed: 'error', ...levels } as const
  const hidden = new Set(hide.map((name) => name.toLowerCase()))
  const safe: PlainOptions = {
    text: (text) => oneLine(withoutSecrets(text), maxLength),
    isHidden: (key) => isSecretName(key) || hidden.has(key.toLowerCase()),
    maxItems: 100,
  }

  /** An observer must never fail the run, neither synchronously nor later. */
  return (ctx, { what, moment, status, fields }) =>
    ignoreFailure(() => {
      const level = levelOf[moment]
      if (logger.isLevelEnabled?.(level) === false) return
      const event = `${what}:${status === undefined ? 'start' : 'end'}`
      const replayed = isReplaying(ctx) && { replayed: true }
      const record = toPlainData({ ...runLocation(ctx), event, ...replayed, ...fields() }, safe) as object
      return logger[level](record, `${what === 'turn' ? what : `${what} call`} ${status ?? 'begins'}`)
    })
}

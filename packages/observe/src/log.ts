import {
  defineMiddleware,
  layerOptions,
  type ModelResponse,
  messageOf,
  option,
  type RunStatus,
  type ToolResult,
  type TurnView,
  type TypedMiddleware,
  textOf,
} from '@allium/core'
import { isReplaying, isResumed } from '@allium/core/context'
import { isSecretName } from '@allium/shared/detect'
import { errorType } from './error-type.ts'
import { decisionOfError, errorDetail, errorField } from './failure.ts'
import { ignoreErrors } from './ignore-errors.ts'
import { oneLine } from './one-line.ts'
import { type PlainOptions, toPlainData } from './plain-data.ts'
import { runLocation } from './run-location.ts'
import { withoutSecrets } from './secrets.ts'
import { stopwatch } from './stopwatch.ts'

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

export interface LogOptions {
  /** pino, or a logger with the same interface. */
  logger: LogTarget
  /** @default { start: 'debug', end: 'info', trouble: 'warn', failed: 'error' } */
  levels?: Partial<Record<LogMoment, LogLevel>> | undefined
  /** Whether inputs, answers, arguments and results are logged. @default false */
  content?: boolean | undefined
  /**
   * Names of fields that are hidden at any depth, in addition to credentials such as `authorization`, `apiKey`, `password`. @default none
   */
  hide?: readonly string[] | undefined
  /** The maximum length of a logged text in characters. @default 2000 */
  maxLength?: number | undefined
  /** The layer's name. @default 'observe:log' */
  as?: string | undefined
}

const readOptions = layerOptions<LogOptions>('observe:log', {
  logger: option.required(option.any, 'pino, or an object with debug(), info(), warn() and error()'),
  levels: option.record(option.oneOf('debug', 'info', 'warn', 'error')),
  content: option.flag,
  hide: option.list(option.text),
  maxLength: option.number({ from: 1 }),
})

/**
 * Logs the beginning and end of turns, model calls and tool calls.
 *
 * Use it in production; `observe.console` is for development. Each record has tenant, user, agent, session and turn. Replayed parts of a
 * restarted run are marked with `replayed: true`. Texts stay on one line, and credentials in them are hidden. Errors of the logger are
 * ignored.
 *
 * @example
 * agent.use(observe.log({ logger: pino() }))
 */
export function log(options: LogOptions): TypedMiddleware<{}> {
  const { logger, levels, content = false, hide = [], maxLength = 2000, as = 'observe:log' } = readOptions(options)
  const levelOf = { start: 'debug', end: 'info', trouble: 'warn', failed: 'error', ...levels } as const
  const hidden = new Set(hide.map((name) => name.toLowerCase()))
  const safe: PlainOptions = {
    text: (text) => oneLine(withoutSecrets(text), maxLength),
    isHidden: (key) => isSecretName(key) || hidden.has(key.toLowerCase()),
    maxItems: 100,
  }

  return defineMiddleware({
    name: as,
    order: { is: ['observes'] },
    inherit: true,
    async turn(ctx, next) {
      const ms = stopwatch(ctx.clock)
      ctx.onEnd(({ status, reason, error, usage }) =>
        write(ctx, moments[status], 'turn:end', `turn ${status}`, () => ({
          status,
          ms: ms(),
          ...(status === 'failed' ? errorFields(error) : reason !== undefined && { reason }),
          usage,
          ...(content && { output: ctx.output }),
        })),
      )
      write(ctx, 'start', 'turn:start', 'turn begins', () => ({
        ...(isResumed(ctx) && { resumed: true }),
        ...(content && { input: ctx.input.map(textOf) }),
      }))
      await next()
    },
    model(ctx, next) {
      const { callIndex: call, attempt, model } = ctx
      const callFields = { model, call, attempt }
      const beginFields = () => ({ settings: ctx.request.settings })
      return logCall(
        ctx,
        'model',
        callFields,
        { beginFields, end: (response) => responseFields(response, content) },
        next,
      )
    },
    tool(ctx, next) {
      const { callId, attempt, tool } = ctx
      const callFields = { tool: tool.name, callId, attempt }
      const beginFields = () => (content ? { args: ctx.args } : {})
      return logCall(ctx, 'tool', callFields, { beginFields, end: (result) => resultFields(result, content) }, next)
    },
  })

  async function logCall<R>(
    ctx: TurnView,
    what: 'model' | 'tool',
    callFields: object,
    describe: { beginFields(): object; end(result: R): Fields },
    next: () => Promise<R>,
  ): Promise<R> {
    const ms = stopwatch(ctx.clock)
    write(ctx, 'start', `${what}:start`, `${what} call begins`, () => ({ ...callFields, ...describe.beginFields() }))
    try {
      const result = await next()
      ignoreErrors(() => {
        const { moment, status, ...fields } = describe.end(result)
        write(ctx, moment, `${what}:end`, `${what} call ${status}`, () => ({
          ...callFields,
          status,
          ms: ms(),
          ...fields,
        }))
      })
      return result
    } catch (error) {
      const status = decisionOfError(error)
      const failureFields = () => (status === 'failed' ? errorFields(error) : { reason: errorDetail(error) })
      write(ctx, 'trouble', `${what}:end`, `${what} call ${status}`, () => ({
        ...callFields,
        status,
        ms: ms(),
        ...failureFields(),
      }))
      throw error
    }
  }

  /** An observer must never fail the run, neither synchronously nor later. */
  function write(ctx: TurnView, moment: LogMoment, event: string, message: string, fields: () => object): void {
    try {
      const level = levelOf[moment]
      if (logger.isLevelEnabled?.(level) === false) return
      const record = toPlainData(
        { ...runLocation(ctx), event, ...(isReplaying(ctx) && { replayed: true }), ...fields() },
        safe,
      ) as object
      Promise.resolve(logger[level](record, message)).catch(() => {})
    } catch {}
  }
}

interface Fields {
  moment: LogMoment
  status: string
  [field: string]: unknown
}

const moments: Record<RunStatus, LogMoment> = {
  completed: 'end',
  stopped: 'end',
  suspended: 'end',
  aborted: 'end',
  blocked: 'trouble',
  failed: 'failed',
}

function responseFields({ model, finishReason, usage, toolCalls, text }: ModelResponse, content: boolean): Fields {
  const calls = toolCalls.map(({ name }) => name)
  return { moment: 'end', status: 'ok', answeredBy: model, finishReason, usage, calls, ...(content && { text }) }
}

function resultFields({ status, content: resultContent, error, isError }: ToolResult, content: boolean): Fields {
  const moment = isError === true ? 'trouble' : 'end'
  const failureFields = status === 'denied' ? { reason: resultContent } : error !== undefined && errorFields(error)
  return { moment, status, ...failureFields, ...(content && { result: resultContent }) }
}

/** Not under `err`, where pino would serialize this object as an error. */
function errorFields(error: unknown): object {
  const [stack, status] = [errorField(error, 'stack'), errorField(error, 'status')]
  return {
    error: {
      type: errorType(error),
      message: messageOf(error),
      ...(typeof status === 'number' && { status }),
      ...(typeof stack === 'string' && { stack }),
    },
  }
}

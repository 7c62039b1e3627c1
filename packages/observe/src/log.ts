import {
  defineMiddleware,
  layerOptions,
  option,
  type RunStatus,
  type TurnContext,
  type TurnView,
  type TypedMiddleware,
  textOf,
} from '@allium/core'
import { isResumed } from '@allium/core/context'
import { errorFields, type LoggedCall, logCall, modelCall, toolCall } from './log-call.ts'
import { type LogLevel, type LogMoment, type LogTarget, logWriter, type WriteLog } from './log-writer.ts'
import { Reporters } from './reporters.ts'
import { stopwatch } from './stopwatch.ts'

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
  logger: option.required(option.any, 'pino, or a logger with its methods'),
  levels: option.record(option.oneOf('debug', 'info', 'warn', 'error')),
  content: option.flag,
  hide: option.list(option.text),
  maxLength: option.number({ from: 1 }),
})

const reporters = new Reporters<WriteLog>()

/**
 * Logs the beginning and end of turns, model calls and tool calls.
 *
 * Use it in production; `observe.console` is for development. Each record has tenant, user, agent, session and turn. Replayed parts of a
 * restarted run are marked with `replayed: true`. Texts stay on one line, and credentials in them are hidden. Errors of the logger are
 * ignored. If a sub-agent has the layer, too, with the same logger, its calls are logged once.
 *
 * @example
 * agent.use(observe.log({ logger: pino() }))
 */
export function log(options: LogOptions): TypedMiddleware<{}> {
  const { content = false, as = 'observe:log', ...writerOptions } = readOptions(options)
  const write = logWriter(writerOptions)
  const around = <R>(ctx: TurnView, call: LoggedCall<R>, next: () => Promise<R>) =>
    reporters.forTurn(ctx, options.logger, write) === write ? logCall(ctx, write, call, next) : next()

  return defineMiddleware({
    name: as,
    order: { is: ['observes', 'reports'] },
    inherit: true,
    async turn(ctx, next) {
      logTurn(ctx, write, content)
      await next()
    },
    model: (ctx, next) => around(ctx, modelCall(ctx, content), next),
    tool: (ctx, next) => around(ctx, toolCall(ctx, content), next),
  })
}

function logTurn(ctx: TurnContext, write: WriteLog, content: boolean): void {
  const ms = stopwatch(ctx.clock)
  ctx.onEnd(({ status, reason, error, usage }) =>
    write(ctx, {
      what: 'turn',
      moment: momentOf(status),
      status,
      fields: () => ({
        status,
        ms: ms(),
        ...(status === 'failed' ? errorFields(error) : reason !== undefined && { reason }),
        usage,
        ...(content && { output: ctx.output }),
      }),
    }),
  )
  write(ctx, {
    what: 'turn',
    moment: 'start',
    fields: () => ({
      ...(isResumed(ctx) && { resumed: true }),
      ...(content && { input: ctx.input.map(textOf) }),
    }),
  })
}

function momentOf(status: RunStatus): LogMoment {
  if (status === 'failed') return 'failed'
  return status === 'blocked' ? 'trouble' : 'end'
}

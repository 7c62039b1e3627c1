import {
  type ModelContext,
  type ModelResponse,
  messageOf,
  type ToolContext,
  type ToolResult,
  type TurnView,
} from '@allium/core'
import { errorType } from './error-type.ts'
import { decisionOfError, errorDetail, errorField } from './failure.ts'
import type { LogMoment, WriteLog } from './log-writer.ts'
import { stopwatch } from './stopwatch.ts'
import { watchCall } from './watch-call.ts'

/** A model or tool call, as its records describe it. */
export interface LoggedCall<Result> {
  readonly what: 'model' | 'tool'
  readonly id: object
  begin(): object
  end(result: Result): CallEnd
}

interface CallEnd {
  moment: LogMoment
  status: string
  [field: string]: unknown
}

/** Logs that a call begins and ends. */
export function logCall<Result>(
  ctx: TurnView,
  write: WriteLog,
  { what, id, begin, end }: LoggedCall<Result>,
  next: () => Promise<Result>,
): Promise<Result> {
  const ms = stopwatch(ctx.clock)
  const logEnd = ({ moment, status, ...fields }: CallEnd) =>
    write(ctx, { what, moment, status, fields: () => ({ ...id, status, ms: ms(), ...fields }) })
  write(ctx, { what, moment: 'start', fields: () => ({ ...id, ...begin() }) })
  return watchCall(next, {
    onResult: (result) => logEnd(end(result)),
    onError: (error) => logEnd(failure(error)),
  })
}

export function modelCall(ctx: ModelContext, content: boolean): LoggedCall<ModelResponse> {
  const { callIndex: call, attempt, model } = ctx
  return {
    what: 'model',
    id: { model, call, attempt },
    begin: () => ({ settings: ctx.request.settings }),
    end({ model: answeredBy, finishReason, usage, toolCalls, text }) {
      const calls = toolCalls.map(({ name }) => name)
      return { moment: 'end', status: 'ok', answeredBy, finishReason, usage, calls, ...(content && { text }) }
    },
  }
}

export function toolCall(ctx: ToolContext, content: boolean): LoggedCall<ToolResult> {
  const { callId, attempt, tool } = ctx
  return {
    what: 'tool',
    id: { tool: tool.name, callId, attempt },
    begin: () => (content ? { args: ctx.args } : {}),
    end({ status, content: result, error, isError }) {
      const moment = isError === true ? 'trouble' : 'end'
      const reason = status === 'denied' ? { reason: result } : error !== undefined && errorFields(error)
      return { moment, status, ...reason, ...(content && { result }) }
    },
  }
}

function failure(error: unknown): CallEnd {
  const status = decisionOfError(error)
  const fields = status === 'failed' ? errorFields(error) : { reason: errorDetail(error) }
  return { moment: 'trouble', status, ...fields }
}

/** Not under `err`, where pino would serialize this object as an error. */
export function errorFields(error: unknown): object {
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

import {
  defineMiddleware,
  layerOptions,
  type ModelContext,
  type ModelResponse,
  misconfigured,
  option,
  type ToolContext,
  type ToolResult,
  type TurnContext,
  type TypedMiddleware,
} from '@allium/core'
import { approverOf, isResumed } from '@allium/core/context'
import type { AuditHead } from './chain.ts'
import { recordsEnds } from './given-up.ts'
import { approvalFields, Content, contentOfMessages, reasonFields, responseFields, resultFields } from './record.ts'
import type { AuditSinkInput } from './to-sink.ts'
import { type AuditedCall, AuditTrail } from './trail.ts'

export interface AuditOptions {
  /**
   * The destination of records, one line each: the path of a file (like `auditFile(path)`), a function, or `audit` of a store, which keeps
   * a chain per tenant.
   */
  sink: AuditSinkInput
  /** Whether to record inputs, arguments, results, answers and error messages. Otherwise only their digests are recorded. @default false */
  content?: boolean | undefined
  /**
   * Seals records and digests with HMAC. Without the secret it is impossible to write a valid chain or to guess digested content. @default
   * none: SHA-256
   */
  secret?: string | Uint8Array | undefined
  /** What to do if a record cannot be stored: block the turn, so that nothing happens off the record, or continue. @default 'block' */
  onError?: 'block' | 'allow' | undefined
  /** How long `block` waits for the sink, in milliseconds. `allow` never waits. @default 5000 */
  timeout?: number | undefined
  /** The layer's name. @default 'observe:audit' */
  as?: string | undefined
}

export interface Audit extends TypedMiddleware<{}> {
  /**
   * Returns the current end of the chain. Store it elsewhere from time to time, for `verify(source, { head })`.
   *
   * @param tenant the tenant of the chain, if the sink has one per tenant
   */
  head(tenant?: string): AuditHead | undefined
  /** Resolves once no record is waiting to be written. */
  flush(): Promise<void>
}

const readOptions = layerOptions<AuditOptions>('observe:audit', {
  sink: option.required(
    option.either(option.text, option.fn, option.object),
    'the path of a file, a function, or an object that appends',
  ),
  content: option.flag,
  secret: option.any,
  onError: option.oneOf('block', 'allow'),
  timeout: option.number({ above: 0 }),
})

/**
 * Records turns, model calls, and tool calls with their decisions in a hash chain, in which `verify` detects every change.
 *
 * Use it for compliance, and to see what an agent did for a user. Register it inside layers that redact and outside layers that decide.
 * A tool call is recorded before it runs. Calls of a sub-agent are recorded with those of its parent, and only there if it has the layer,
 * too, with the same sink.
 *
 * @example
 * agent.use(observe.audit({ sink: 'audit.jsonl' }))
 */
export function audit(given: AuditOptions): Audit {
  const options = readOptions(given)
  const { as = 'observe:audit' } = options
  if ('secret' in options && options.secret === undefined)
    throw misconfigured(as, 'has an undefined secret. Is its variable set? To sign nothing, omit it.')
  const trail = new AuditTrail(as, options)

  const layer = defineMiddleware({
    name: as,
    order: { is: ['persists', 'reports'] },
    inherit: true,
    options: recordsEnds((run) => trail.appendGivenUp(run)),
    async agent(ctx, next) {
      await next()
      await trail.close(ctx.clock)
    },
    async turn(ctx, next) {
      if (trail.reports(ctx)) await beginTurn(ctx, trail)
      await next()
    },
    model: (ctx, next) => trail.around(ctx, modelCall(ctx), next),
    tool: (ctx, next) => trail.around(ctx, toolCall(ctx), next),
  })
  return Object.assign(layer, { head: (tenant?: string) => trail.head(tenant), flush: () => trail.flush() })
}

/** Records the input as outer layers left it, then what is added to it later, and the end of the turn. */
async function beginTurn(ctx: TurnContext, trail: AuditTrail): Promise<void> {
  ctx.onEnd((end) =>
    trail.append(ctx, { type: 'turn:end', status: end.status, ...reasonFields(end), usage: end.usage }),
  )
  let steerCount = 0
  ctx.onInput((message, about) =>
    about.steered
      ? trail.record(ctx, { type: 'turn:steer', input: contentOfMessages([message]) }, String(++steerCount))
      : undefined,
  )
  const type = isResumed(ctx) ? 'turn:resume' : 'turn:start'
  await trail.record(ctx, { type, input: contentOfMessages(ctx.plan.input) })
}

function modelCall({ callIndex: call, attempt, model }: ModelContext): AuditedCall<ModelResponse> {
  return { what: 'model', id: { call, attempt }, begin: { model }, end: responseFields }
}

function toolCall(ctx: ToolContext): AuditedCall<ToolResult> {
  const { callId, attempt, tool, approval } = ctx
  const args = new Content(ctx.args)
  return {
    what: 'tool',
    id: { callId, attempt },
    begin: { tool: tool.name, args, ...approvalFields(approval, approverOf(ctx)) },
    end(result) {
      const executedArgs = new Content(ctx.args)
      return {
        tool: ctx.tool.name,
        ...(!executedArgs.equals(args) && { args: executedArgs }),
        ...resultFields(result),
      }
    },
  }
}

import {
  type Approval,
  defineMiddleware,
  type Identity,
  layerOptions,
  option,
  type ToolContext,
  type TypedMiddleware,
  withState,
} from '@allium/core'
import { approverOf, seal } from '@allium/core/context'
import { identityOf } from '@allium/core/internal'
import { matchesToolName } from './tool-names.ts'

/** A call that a handler approves or denies. */
export interface ApprovalRequest {
  readonly callId: string
  readonly tool: string
  readonly description: string
  readonly args: Record<string, unknown>
  readonly reason: string
}

/** A handler's decision, and optionally its approver. */
export type HandlerDecision = boolean | (Approval & { by?: Identity | undefined })

export interface ApproveOptions<Name extends string = string> {
  /** The tools that need approval, by name; `*` matches any text. @default all */
  tools?: readonly string[] | undefined
  /** Selects which calls of these tools need approval. @default all */
  when?(ctx: ToolContext): boolean | Promise<boolean>
  /**
   * Approves (`true`) or denies (`false`) in this process. `by` names the approver; by default that is the session's principal. Without a
   * handler the run is suspended until `session.resume()`. A handler that throws denies the call.
   */
  handler?(request: ApprovalRequest, ctx: ToolContext): HandlerDecision | Promise<HandlerDecision>
  /** The reason shown to the approver. @default names the tool */
  reason?: string | ((ctx: ToolContext) => string)
  /**
   * Whether the same tool with the same arguments stays approved for the rest of the session. The stored approval is signed with the
   * agent's `approvals.secret` if there is one. @default false
   */
  remember?: boolean | undefined
  /**
   * How long a suspended call can be approved, in milliseconds. After that it can only be denied. @default the agent's
   * `approvals.expiresIn`
   */
  expiresIn?: number | undefined
  /** The layer's name, and the prefix of its state key. @default 'guard:approve' */
  as?: Name | undefined
}

const readOptions = layerOptions<ApproveOptions>('guard:approve', {
  tools: option.some(option.text),
  when: option.fn,
  handler: option.fn,
  reason: option.either(option.text, option.fn),
  remember: option.flag,
  expiresIn: option.number({ above: 0 }),
})

/**
 * Asks a human before a tool runs: through a handler in this process, or by suspending the run.
 *
 * Register it anywhere. It always runs directly around the tool, so the approved arguments are the ones that run, even if other
 * layers changed them. Calls of sub-agents need approval too. It fails closed: a handler that throws denies the call.
 *
 * @throws AlliumError `layer.config` when `tools` is empty, because no call would need approval; `tool.invalid` at init() when it
 * names a tool that the provider runs
 * @example
 * agent.use(guard.approve({ tools: ['refund', 'send_*'] }))
 * const { status, pending } = await session.run('Refund my order')
 * await session.resume({ [pending[0].callId]: { approve: true } })
 */
export function approve<Name extends string = 'guard:approve'>(
  options: ApproveOptions<Name> = {},
): TypedMiddleware<Record<`${Name}:remembered`, string[]>> {
  const {
    tools = ['*'],
    when = () => true,
    handler,
    reason = ({ tool }) => `The tool "${tool.name}" needs an approval.`,
    remember = false,
    expiresIn,
    as = 'guard:approve' as Name,
  }: ApproveOptions<Name> = readOptions(options)
  const key = `${as}:remembered`
  const layer = defineMiddleware<Record<string, string[]>>({
    name: as,
    order: { is: ['authorizes', 'asks'] },
    innermost: true,
    inherit: true,
    guards: (name) => matchesToolName(tools, name),
    state: { [key]: { default: [], reducer: (entries, more) => [...entries, ...more] } },
    async tool(ctx, next) {
      if (!matchesToolName(tools, ctx.tool.name) || !(await when(ctx))) return next()
      const rememberedApproval = remember ? await findRemembered(ctx) : undefined
      if (rememberedApproval !== undefined) return approveAndRun(ctx, next, { ...rememberedApproval, remembered: true })
      const decidedHere = ctx.approval === undefined
      const decision = ctx.approval ?? (await decide(ctx))
      if (decision === undefined)
        return ctx.suspend({ reason: reasonFor(ctx), ...(expiresIn !== undefined && { expiresIn }) })
      const by = ('by' in decision ? decision.by : undefined) ?? identityOf(ctx.principal)
      if ('deny' in decision) return ctx.deny(decision.deny, decidedHere && by !== unknownIdentity ? { by } : undefined)
      if ('args' in decision) ctx.modifyArgs(() => decision.args)
      else if (remember) ctx.state[key] = [await fingerprint(ctx, decidedHere ? by : approverOf(ctx))]
      return approveAndRun(ctx, next, decidedHere ? { by, edited: 'args' in decision } : undefined)
    },
  })
  return withState<Record<`${Name}:remembered`, string[]>>(layer)

  /** Returns the stored form of an approval: a seal over the call and its approver, followed by the approver. */
  async function fingerprint(ctx: ToolContext, by: Identity | undefined): Promise<string> {
    const identities = by === undefined || Object.keys(by).length === 0 ? [] : [by]
    return [
      await seal(ctx, [as, ctx.tool.name, ctx.args, ...identities]),
      ...identities.map((one) => JSON.stringify(one)),
    ].join(' ')
  }

  /** Returns the approver of an earlier identical call, if there is one. */
  async function findRemembered(ctx: ToolContext): Promise<{ by?: Identity } | undefined> {
    for (const entry of (ctx.state[key] ?? []) as readonly string[]) {
      const by = identityFrom(entry)
      if ((await fingerprint(ctx, by)) === entry) return by === undefined ? {} : { by }
    }
    return undefined
  }

  /** Returns undefined when no handler decides. */
  async function decide(ctx: ToolContext): Promise<Exclude<HandlerDecision, boolean> | undefined> {
    if (handler === undefined) return undefined
    const { callId, tool, args } = ctx
    const request = {
      callId,
      tool: tool.name,
      description: tool.description,
      args: structuredClone(args),
      reason: reasonFor(ctx),
    }
    try {
      return decisionOf(await handler(request, ctx), tool.name)
    } catch (error) {
      if (ctx.signal.aborted) throw error
      ctx.logger.error(`The approval of "${tool.name}" failed, so the call is denied.`, { error })
      return { deny: `The tool "${tool.name}" could not be approved.`, by: unknownIdentity }
    }
  }

  function reasonFor(ctx: ToolContext): string {
    return typeof reason === 'function' ? reason(ctx) : reason
  }
}

/**
 * Returns the handler's decision. A handler that returns undefined has not decided, as if it did not exist.
 * @throws TypeError for an invalid decision: `{ approve: false }` does not approve
 */
function decisionOf(result: unknown, tool: string): Exclude<HandlerDecision, boolean> | undefined {
  if (result === undefined) return undefined
  if (typeof result === 'boolean') return result ? { approve: true } : { deny: `A human denied "${tool}".` }
  const { approve: approved, deny, args, by: approver } = (result ?? {}) as Record<string, unknown>
  const by = approver === undefined ? {} : { by: identityOf(approver) }
  if (deny !== undefined || approved === false)
    return { deny: typeof deny === 'string' ? deny : `A human denied "${tool}".`, ...by }
  if (typeof args === 'object' && args !== null && !Array.isArray(args))
    return { args: args as Record<string, unknown>, ...by }
  if (approved === true && args === undefined) return { approve: true, ...by }
  throw new TypeError('The handler returned no decision. Return true, false, { approve: true }, { deny } or { args }.')
}

/** The approver of a call whose handler failed. */
const unknownIdentity: Identity = Object.freeze({})

function identityFrom(entry: string): Identity | undefined {
  const at = entry.indexOf(' ')
  try {
    return at < 0 ? undefined : identityOf(JSON.parse(entry.slice(at + 1)))
  } catch {
    return undefined
  }
}

function approveAndRun<R>(
  ctx: ToolContext,
  next: () => Promise<R>,
  approver?: Parameters<ToolContext['approve']>[0],
): Promise<R> {
  ctx.approve(approver)
  return next()
}

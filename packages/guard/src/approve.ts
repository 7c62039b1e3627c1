import {
  type Approval,
  defineMiddleware,
  type Identity,
  identityOf,
  layerOptions,
  option,
  type ToolContext,
  type TypedMiddleware,
  withState,
} from '@allium/core'
import { namesTool } from './tool-names.ts'

/** A call for which a handler decides. */
export interface ApprovalRequest {
  readonly callId: string
  readonly tool: string
  readonly description: string
  readonly args: Record<string, unknown>
  readonly reason: string
}

/** What a handler says: whether, and who said so. */
export type HandlerDecision = boolean | (Approval & { by?: Identity | undefined })

export interface ApproveOptions<Name extends string = string> {
  /** The tools that need an approval, by name; `*` stands for any text. @default all */
  tools?: readonly string[] | undefined
  /** Of those, the calls that need one. @default all */
  when?(ctx: ToolContext): boolean | Promise<boolean>
  /** Decides in this process; `true` approves, `false` denies. It may say who decided, `by`; else the session's principal did. Without one the run is suspended, for `session.resume()`. What it throws denies. */
  handler?(request: ApprovalRequest, ctx: ToolContext): HandlerDecision | Promise<HandlerDecision>
  /** Why a human is asked. @default names the tool */
  reason?: string | ((ctx: ToolContext) => string)
  /** Whether the same tool with the same arguments is approved for the rest of the session. What is kept of it is signed with the agent's `approvals.secret`, where there is one. @default false */
  remember?: boolean | undefined
  /** Milliseconds after which a suspended call can only be denied. @default the agent's `approvals.expiresIn` */
  expiresIn?: number | undefined
  /** The layer's name, and how its state key begins. @default 'guard:approve' */
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
 * Asks a human before a tool runs: a handler in this process, or by suspending the run.
 *
 * Register it anywhere: it stands right around the tool, so what is approved is what runs, whatever other layers made
 * of the arguments; sub-agents ask too. It fails closed: a handler that throws denies.
 *
 * @throws AlliumError `layer.config` where `tools` names none: nothing would be asked for; `tool.invalid` at init() where it
 * names one that the provider runs
 * @example
 * agent.use(guard.approve({ tools: ['refund', 'send_*'] }))
 * const { status, pending } = await session.run('Refund my order')
 * await session.resume({ [pending[0].callId]: { approve: true } })
 */
export function approve<Name extends string = 'guard:approve'>(
  given: ApproveOptions<Name> = {},
): TypedMiddleware<Record<`${Name}:remembered`, string[]>> {
  const {
    tools = ['*'],
    when = () => true,
    handler,
    reason = ({ tool }) => `The tool "${tool.name}" needs an approval.`,
    remember = false,
    expiresIn,
    as = 'guard:approve' as Name,
  }: ApproveOptions<Name> = readOptions(given)
  const key = `${as}:remembered`
  const layer = defineMiddleware<Record<string, string[]>>({
    name: as,
    order: { is: ['authorizes', 'asks'] },
    innermost: true,
    inherit: true,
    guards: (name) => namesTool(tools, name),
    state: { [key]: { default: [], reducer: (known, more) => [...known, ...more] } },
    async tool(ctx, next) {
      if (!namesTool(tools, ctx.tool.name) || !(await when(ctx))) return next()
      const known = remember ? await remembered(ctx) : undefined
      if (known !== undefined) return pass(ctx, next, { ...known, remembered: true })
      const asked = ctx.approval === undefined
      const decision = ctx.approval ?? (await decide(ctx))
      if (decision === undefined)
        return ctx.suspend({ reason: why(ctx), ...(expiresIn !== undefined && { expiresIn }) })
      const by = ('by' in decision ? decision.by : undefined) ?? identityOf(ctx.principal)
      if ('deny' in decision) return ctx.deny(decision.deny, asked && by !== nobody ? { by } : undefined)
      if ('args' in decision) ctx.modifyArgs(() => decision.args)
      else if (remember) ctx.state[key] = [await print(ctx, asked ? by : ctx.decidedBy)]
      return pass(ctx, next, asked ? { by, edited: 'args' in decision } : undefined)
    },
  })
  return withState<Record<`${Name}:remembered`, string[]>>(layer)

  /** What is kept of an approval: a seal over the call and who gave it, and who that was. */
  async function print(ctx: ToolContext, by: Identity | undefined): Promise<string> {
    const who = by === undefined || Object.keys(by).length === 0 ? [] : [by]
    return [await ctx.seal([as, ctx.tool.name, ctx.args, ...who]), ...who.map((one) => JSON.stringify(one))].join(' ')
  }

  /** Who approved the same call before, if anybody did. */
  async function remembered(ctx: ToolContext): Promise<{ by?: Identity } | undefined> {
    for (const kept of (ctx.state[key] ?? []) as readonly string[]) {
      const by = identityIn(kept)
      if ((await print(ctx, by)) === kept) return by === undefined ? {} : { by }
    }
    return undefined
  }

  /** Undefined: nobody decides here. */
  async function decide(ctx: ToolContext): Promise<Exclude<HandlerDecision, boolean> | undefined> {
    if (handler === undefined) return undefined
    const { callId, tool, args } = ctx
    const request = {
      callId,
      tool: tool.name,
      description: tool.description,
      args: structuredClone(args),
      reason: why(ctx),
    }
    try {
      return decisionOf(await handler(request, ctx), tool.name)
    } catch (error) {
      if (ctx.signal.aborted) throw error
      ctx.logger.error(`The approval of "${tool.name}" failed: it is denied.`, { error })
      return { deny: `The tool "${tool.name}" could not be approved.`, by: nobody }
    }
  }

  function why(ctx: ToolContext): string {
    return typeof reason === 'function' ? reason(ctx) : reason
  }
}

/**
 * What a handler said. Undefined says nothing, as if there were no handler.
 * @throws TypeError for what is no decision: `{ approve: false }` is none to approve
 */
function decisionOf(said: unknown, tool: string): Exclude<HandlerDecision, boolean> | undefined {
  if (said === undefined) return undefined
  if (typeof said === 'boolean') return said ? { approve: true } : { deny: `A human denied "${tool}".` }
  const { approve, deny, args, by: who } = (said ?? {}) as Record<string, unknown>
  const by = who === undefined ? {} : { by: identityOf(who) }
  if (deny !== undefined || approve === false)
    return { deny: typeof deny === 'string' ? deny : `A human denied "${tool}".`, ...by }
  if (typeof args === 'object' && args !== null && !Array.isArray(args))
    return { args: args as Record<string, unknown>, ...by }
  if (approve === true && args === undefined) return { approve: true, ...by }
  throw new TypeError('The handler gave no decision: true, false, { approve: true }, { deny } or { args }.')
}

/** Decided where the handler failed. */
const nobody: Identity = Object.freeze({})

function identityIn(kept: string): Identity | undefined {
  const at = kept.indexOf(' ')
  try {
    return at < 0 ? undefined : identityOf(JSON.parse(kept.slice(at + 1)))
  } catch {
    return undefined
  }
}

function pass<R>(ctx: ToolContext, next: () => Promise<R>, who?: Parameters<ToolContext['approve']>[0]): Promise<R> {
  ctx.approve(who)
  return next()
}

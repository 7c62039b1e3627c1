import { defineMiddleware, layerOptions, option, type ToolContext, type TypedMiddleware, withState } from '@allium/core'
import { approverOf } from '@allium/core/context'
import { identityOf } from '@allium/core/internal'
import { type ApprovalRequest, askHandler, type HandlerDecision, unknownIdentity } from './ask-handler.ts'
import { findRemembered, rememberApproval, rememberedState } from './remembered-approvals.ts'
import { matchesToolName } from './tool-names.ts'

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
  const reasonFor = (ctx: ToolContext) => (typeof reason === 'function' ? reason(ctx) : reason)

  const layer = defineMiddleware<Record<string, string[]>>({
    name: as,
    order: { is: ['authorizes', 'asks'] },
    innermost: true,
    inherit: true,
    guards: (name) => matchesToolName(tools, name),
    state: rememberedState(as),
    async tool(ctx, next) {
      if (!matchesToolName(tools, ctx.tool.name) || !(await when(ctx))) return next()
      const earlier = remember ? await findRemembered(ctx, as) : undefined
      if (earlier !== undefined) return approveAndRun(ctx, next, { ...earlier, remembered: true })
      const decidedHere = ctx.approval === undefined
      const decision = ctx.approval ?? (handler && (await askHandler(handler, ctx, reasonFor(ctx))))
      if (decision === undefined)
        return ctx.suspend({ reason: reasonFor(ctx), ...(expiresIn !== undefined && { expiresIn }) })
      const by = ('by' in decision ? decision.by : undefined) ?? identityOf(ctx.principal)
      if ('deny' in decision) return ctx.deny(decision.deny, decidedHere && by !== unknownIdentity ? { by } : undefined)
      if ('args' in decision) ctx.modifyArgs(() => decision.args)
      else if (remember) await rememberApproval(ctx, as, decidedHere ? by : approverOf(ctx))
      return approveAndRun(ctx, next, decidedHere ? { by, edited: 'args' in decision } : undefined)
    },
  })
  return withState<Record<`${Name}:remembered`, string[]>>(layer)
}

function approveAndRun<R>(
  ctx: ToolContext,
  next: () => Promise<R>,
  approver?: Parameters<ToolContext['approve']>[0],
): Promise<R> {
  ctx.approve(approver)
  return next()
}

import {
  defineMiddleware,
  layerOptions,
  misconfigured,
  option,
  type ToolContext,
  type TypedMiddleware,
} from '@allium/core'
import { matchesToolName } from './tool-names.ts'

/** A test of an argument: a pattern to match, a list of allowed values, or a predicate. */
export type ArgumentTest =
  | RegExp
  | readonly unknown[]
  | ((value: unknown, ctx: ToolContext) => boolean | Promise<boolean>)

/** A rule for calls of some tools. A call must satisfy every rule that names its tool. */
export interface PolicyRule {
  /** By name; `*` matches any text. */
  tool: string
  /** The principal must have one of these roles. */
  roles?: readonly string[]
  /** Tests per argument; `customer.id` is a nested argument. A missing argument fails. */
  args?: Readonly<Record<string, ArgumentTest>>
  /** The reason that the model receives. @default names the violated part of the rule */
  reason?: string
}

export interface PolicyOptions {
  /** The only tools that may run, by name; `*` matches any text. @default all */
  allow?: readonly string[] | undefined
  /** Tools that may not run, even if `allow` names them. */
  deny?: readonly string[] | undefined
  rules?: readonly PolicyRule[] | undefined
  /** Returns the roles of the principal. @default the principal's `roles`, or its `role` */
  roles?(ctx: ToolContext): readonly string[]
  /** The layer's name. @default 'guard:policy' */
  as?: string | undefined
}

const readOptions = layerOptions<PolicyOptions>('guard:policy', {
  allow: option.list(option.text),
  deny: option.list(option.text),
  rules: option.list(
    option.shape<PolicyRule>({
      tool: option.required(option.text),
      roles: option.list(option.text),
      args: option.object,
      reason: option.text,
    }),
  ),
  roles: option.fn,
})

/**
 * Runs only the tool calls that a policy allows: by tool, by user role, by argument.
 *
 * Register it anywhere. It always runs directly around the tool and sees the arguments that would run, even if other layers changed
 * them. Sub-agents follow it too. A denied call stays denied, and a test that throws denies. Tools that `allow` and `deny` exclude are
 * not shown to the model.
 *
 * @throws AlliumError `layer.config` for a policy that would allow everything; `tool.invalid` at init() for a rule of a tool
 * that the provider runs
 * @example
 * agent.use(guard.policy({ deny: ['*_delete'], rules: [{ tool: 'refund', roles: ['manager'], args: { amount: (n) => Number(n) <= 100 } }]
 * }))
 */
export function policy(options: PolicyOptions): TypedMiddleware<{}> {
  const { allow = ['*'], deny = [], rules = [], roles = rolesOf, as = 'guard:policy' } = readOptions(options)
  if (deny.length === 0 && rules.length === 0 && allow.includes('*'))
    throw misconfigured(as, 'allows everything. Pass allow, deny or rules.')
  const isAllowed = (name: string) => matchesToolName(allow, name) && !matchesToolName(deny, name)

  return defineMiddleware({
    name: as,
    order: { is: ['authorizes'] },
    innermost: true,
    inherit: true,
    guards: (name) => isAllowed(name) && rules.some(({ tool }) => matchesToolName([tool], name)),
    model(ctx, next) {
      const hidden = ctx.request.tools.map(({ name }) => name).filter((name) => !isAllowed(name))
      if (hidden.length > 0) ctx.removeTools(...hidden)
      return next()
    },
    async tool(ctx, next) {
      const { name } = ctx.tool
      if (!isAllowed(name)) return ctx.deny(`The tool "${name}" may not be used here.`)
      for (const rule of rules) {
        const violation = matchesToolName([rule.tool], name) ? await findViolation(rule, ctx) : undefined
        if (violation !== undefined) return ctx.deny(rule.reason ?? violation)
      }
      return next()
    },
  })

  async function findViolation(rule: PolicyRule, ctx: ToolContext): Promise<string | undefined> {
    const { name } = ctx.tool
    const callerRoles = roles(ctx)
    if (rule.roles !== undefined && !rule.roles.some((role) => callerRoles.includes(role)))
      return `The tool "${name}" is for other users.`
    for (const [path, test] of Object.entries(rule.args ?? {}))
      if (!(await passes(test, valueAt(ctx.args, path), ctx)))
        return `The argument "${path}" of "${name}" is not allowed.`
    return undefined
  }
}

/** A test that throws fails. */
async function passes(test: ArgumentTest, value: unknown, ctx: ToolContext): Promise<boolean> {
  if (value === undefined) return false
  if (typeof test !== 'function' && !(test instanceof RegExp)) return test.includes(value)
  try {
    if (test instanceof RegExp) return typeof value === 'string' && value.search(test) >= 0
    return (await test(value, ctx)) === true
  } catch (error) {
    ctx.logger.warn(`A test of the policy for "${ctx.tool.name}" threw an error, so the call is denied.`, { error })
    return false
  }
}

function valueAt(args: Record<string, unknown>, path: string): unknown {
  let value: unknown = args
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string, unknown>)[key]
  }
  return value
}

function rolesOf({ principal }: ToolContext): readonly string[] {
  const { roles, role } = (principal ?? {}) as { roles?: unknown; role?: unknown }
  if (Array.isArray(roles)) return roles.map(String)
  return typeof role === 'string' ? [role] : []
}

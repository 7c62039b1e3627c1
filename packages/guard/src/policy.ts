import {
  defineMiddleware,
  layerOptions,
  misconfigured,
  option,
  type ToolContext,
  type TypedMiddleware,
} from '@allium/core'
import { matchesToolName } from './tool-names.ts'

/** What an argument must be: a text that a pattern finds something in, one of some values, or what a function says yes to. */
export type ArgumentTest =
  | RegExp
  | readonly unknown[]
  | ((value: unknown, ctx: ToolContext) => boolean | Promise<boolean>)

/** What calls of some tools must keep to. A call must keep to every rule that names its tool. */
export interface PolicyRule {
  /** By name; `*` stands for any text. */
  tool: string
  /** The principal must have one of these. */
  roles?: readonly string[]
  /** Tests by argument; `customer.id` is an argument within one. One that is missing fails. */
  args?: Readonly<Record<string, ArgumentTest>>
  /** What the model is told. @default says which part of the rule was not kept */
  reason?: string
}

export interface PolicyOptions {
  /** The only tools that may run, by name; `*` stands for any text. @default all */
  allow?: readonly string[] | undefined
  /** Tools that may not, also where `allow` names them. */
  deny?: readonly string[] | undefined
  rules?: readonly PolicyRule[] | undefined
  /** The roles of who acts. @default the principal's `roles`, or its `role` */
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
 * Lets only those tool calls run that a policy allows: by tool, by role of the user, by argument.
 *
 * Register it anywhere: it stands right around the tool and sees the arguments that would run, whatever other layers
 * made of them; sub-agents keep to it too. What it denies stays denied, and a test that throws denies. Tools that
 * `allow` and `deny` rule out are not shown to the model at all.
 *
 * @throws AlliumError `layer.config` for a policy that would allow everything; `tool.invalid` at init() for a rule of a tool
 * that the provider runs
 * @example
 * agent.use(guard.policy({ deny: ['*_delete'], rules: [{ tool: 'refund', roles: ['manager'], args: { amount: (n) => Number(n) <= 100 } }] }))
 */
export function policy(options: PolicyOptions): TypedMiddleware<{}> {
  const { allow = ['*'], deny = [], rules = [], roles = rolesOf, as = 'guard:policy' } = readOptions(options)
  if (deny.length === 0 && rules.length === 0 && allow.includes('*'))
    throw misconfigured(as, 'allows everything. Give it allow, deny or rules.')
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

/** A test that throws is not passed. */
async function passes(test: ArgumentTest, value: unknown, ctx: ToolContext): Promise<boolean> {
  if (value === undefined) return false
  if (typeof test !== 'function' && !(test instanceof RegExp)) return test.includes(value)
  try {
    if (test instanceof RegExp) return typeof value === 'string' && value.search(test) >= 0
    return (await test(value, ctx)) === true
  } catch (error) {
    ctx.logger.warn(`A test of the policy for "${ctx.tool.name}" threw: the call is denied.`, { error })
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

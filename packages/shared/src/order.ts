import type { Inspection, ScopeName } from '@allium/core'
import { type Finding, type Layer, type OrderRules, scopeNames } from '@allium/core/internal'

interface Rule {
  readonly outer: string
  readonly inner: string
  readonly reason: string
  readonly severity?: 'warn'
  readonly scope?: 'tool'
  /** What to do, if the order of registration does not matter. */
  readonly fix?: string
}

/** The common ordering mistakes. */
const rules: readonly Rule[] = [
  { outer: 'retries', inner: 'meters', reason: 'or repeated attempts go uncounted' },
  { outer: 'redacts', inner: 'caches', reason: 'or the cache keeps raw text' },
  { outer: 'redacts', inner: 'observes', reason: 'or raw text is logged' },
  { outer: 'redacts', inner: 'persists', reason: 'or raw text is stored' },
  { outer: 'redacts', inner: 'recordsRaw', reason: 'or raw text is stored', fix: 'Pass it a store with `encrypt`' },
  { outer: 'shapes', inner: 'caches', reason: 'or the key is not what is sent' },
  { outer: 'caches', inner: 'meters', reason: 'or a hit is charged' },
  { outer: 'caches', inner: 'repairs', reason: 'or invalid answers are kept' },
  { outer: 'mutates', inner: 'authorizes', reason: 'or other arguments run than were authorised' },
  { outer: 'authorizes', inner: 'caches', reason: 'or a hit gets round the policy', scope: 'tool' },
  { outer: 'limits', inner: 'caches', reason: 'or hits go uncounted', severity: 'warn' },
  { outer: 'blocks', inner: 'retries', reason: 'or each attempt is checked again', severity: 'warn' },
]

/**
 * The rules for the order of layers, which core checks: those of the table, and the `inside` and `outside` of each layer. Layers that
 * sub-agents have, too, are reported if they count only once.
 */
export const orderRules: OrderRules = (layers) => {
  const placed = layers.map((layer, position) => ({
    layer,
    position,
    depths: depthsOf(layer, position, layers.length),
  }))
  const known = byWord(placed)
  const wrong = placed.flatMap((one) => neighbours(one, known).flatMap((other) => checkPair(one, other)))
  return [...wrong, ...reportedOnce(layers), ...changedPrefixes(layers)]
}

/** Finds layers of sub-agents that report what a layer of this agent reports, too. They count once. */
function reportedOnce(layers: readonly Layer[]): Finding[] {
  return layers
    .flatMap(({ spec }) => spec.tools ?? [])
    .flatMap(({ agent }) => (agent as Partial<Inspectable> | undefined)?.inspect?.().layers ?? [])
    .filter(({ name, order }) => order.is?.includes('reports') && layers.some((outer) => outer.name === name))
    .map(({ name }) => ({
      severity: 'warn',
      layers: [name],
      message: `A sub-agent has "${name}", too. It counts once.`,
    }))
}

/** Finds layers that change the beginning of requests, if the agent has a layer for the provider's prompt cache. */
function changedPrefixes(layers: readonly Layer[]): Finding[] {
  if (!layers.some((layer) => matches(['marks', 'watchesPrompts'], layer))) return []
  return layers
    .filter((layer) => matches(['changesPrefix'], layer))
    .map(({ name }) => ({
      severity: 'warn',
      layers: [name],
      message: `"${name}" changes the beginning of requests, and the provider's prompt cache ends there. Let it change the end, or change it rarely.`,
    }))
}

/** An agent. Tools refer to theirs as an object. */
interface Inspectable {
  inspect(): Inspection
}

/** A layer with its depth in each scope that it hooks. */
interface Placed {
  readonly layer: Layer
  readonly position: number
  readonly depths: readonly (number | undefined)[]
}

/** Indexes the layers by name and category, so that pairs without a rule are never compared. */
function byWord(placed: readonly Placed[]): Map<string, Placed[]> {
  const known = new Map<string, Placed[]>()
  for (const one of placed)
    for (const word of new Set([one.layer.name, ...(one.layer.spec.order?.is ?? [])])) {
      const same = known.get(word)
      if (same === undefined) known.set(word, [one])
      else same.push(one)
    }
  return known
}

/** Returns the layers that a rule about `one`, or its own `inside` and `outside`, refers to. In order of registration. */
function neighbours(one: Placed, known: ReadonlyMap<string, readonly Placed[]>): Placed[] {
  const { order } = one.layer.spec
  if (order === undefined) return []
  const { is = [], inside = [], outside = [] } = order
  const outer = rules.flatMap((rule) => (is.includes(rule.inner) ? [rule.outer] : []))
  const all = new Set([...outer, ...inside, ...outside].flatMap((word) => known.get(word) ?? []))
  all.delete(one)
  return [...all].sort((a, b) => a.position - b.position)
}

/** Checks a pair against the rules whose inner layer is `one`, and against the `inside` and `outside` of `one`. */
function checkPair(one: Placed, other: Placed): Finding[] {
  const { order } = one.layer.spec
  const findings: Finding[] = []
  for (const rule of rules)
    if (breaks(rule, other.layer, one.layer) && isOutside(one, other, rule.scope))
      findings.push(finding(other, one, rule.reason, rule))
  if (matches(order?.inside, other.layer) && isOutside(one, other))
    findings.push(finding(other, one, `because "${one.layer.name}" asks to be inside "${other.layer.name}"`))
  if (matches(order?.outside, other.layer) && isOutside(other, one))
    findings.push(finding(one, other, `because "${one.layer.name}" asks to be outside "${other.layer.name}"`))
  return findings
}

/** Whether `a` runs outside `b`: in a scope that both hook, or in an outer scope if they share none. */
function isOutside(a: Placed, b: Placed, only?: ScopeName): boolean {
  const shared = sharedScopes(a, b).filter((scope) => only === undefined || scopeNames[scope] === only)
  return shared.length > 0 ? shared.some((scope) => isBefore(a, b, scope)) : nests(a, b)
}

function isBefore(a: Placed, b: Placed, scope: number): boolean {
  return (a.depths[scope] as number) < (b.depths[scope] as number)
}

/** Returns the scopes that both hook. The agent and session scopes count only if one of the two hooks nothing else. */
function sharedScopes(a: Placed, b: Placed): number[] {
  const scopes = seesCalls(a) && seesCalls(b) ? callScopes : gateScopes
  return scopes.filter((scope) => a.depths[scope] !== undefined && b.depths[scope] !== undefined)
}

function seesCalls({ depths }: Placed): boolean {
  return callScopes.some((scope) => depths[scope] !== undefined)
}

/** Whether the outermost scope of `a` contains that of `b`. The model and tool scopes are siblings. */
function nests(a: Placed, b: Placed): boolean {
  const [scopeOfA, scopeOfB] = [outermost(a), outermost(b)]
  return scopeOfA >= 0 && scopeOfA < scopeNames.indexOf('model') && scopeOfA < scopeOfB
}

/** Indexes in `scopeNames`: agent and session, which stay open; turn, model and tool. */
const gateScopes: readonly number[] = [0, 1]
const callScopes: readonly number[] = [2, 3, 4]

/** Returns its depth in each scope that it hooks. `innermost` moves model and tool hooks inside all others. */
function depthsOf({ spec }: Layer, position: number, count: number): (number | undefined)[] {
  return scopeNames.map((scope) => {
    if (spec[scope] === undefined || spec.order?.scopes?.includes(scope) === false) return undefined
    return position + (spec.innermost === true && isMoved(scope) ? count : 0)
  })
}

function isMoved(scope: ScopeName | undefined): boolean {
  return scope === 'model' || scope === 'tool'
}

function breaks({ outer, inner, scope }: Rule, a: Layer, b: Layer): boolean {
  if (scope !== undefined && (a.spec[scope] === undefined || b.spec[scope] === undefined)) return false
  return a.spec.order?.is?.includes(outer) === true && b.spec.order?.is?.includes(inner) === true
}

function matches(wanted: readonly string[] | undefined, { name, spec }: Layer): boolean {
  return wanted?.some((one) => one === name || spec.order?.is?.includes(one) === true) === true
}

/** Returns the outermost of the turn, model and tool scopes that a layer hooks, or else the agent or session scope. */
function outermost({ depths }: Placed): number {
  const call = callScopes.find((scope) => depths[scope] !== undefined)
  return call ?? depths.findIndex((depth) => depth !== undefined)
}

function finding(outer: Placed, inner: Placed, reason: string, rule: Partial<Rule> = {}): Finding {
  const [a, b] = [outer.layer, inner.layer]
  return {
    severity: rule.severity ?? 'error',
    layers: [a.name, b.name],
    message: `"${b.name}" is outside "${a.name}". ${rule.fix ?? fix(outer, inner)}, ${reason}.`,
  }
}

/** Describes how to fix the order, by registration if that decides it. */
function fix(outer: Placed, inner: Placed): string {
  const [a, b] = [outer.layer, inner.layer]
  const wrong = sharedScopes(outer, inner).find((scope) => isBefore(inner, outer, scope))
  if (wrong !== undefined && isMoved(scopeNames[wrong]) && a.spec.innermost === true && b.spec.innermost !== true)
    return `"${a.name}" is innermost: declare "${b.name}" innermost too, behind it`
  const register = `Register "${a.name}" first, then "${b.name}"`
  if (wrong !== undefined) return register
  const [scopeOfA, scopeOfB] = [scopeNames[outermost(outer)], scopeNames[outermost(inner)]]
  return `It hooks ${scopeOfB}, which holds ${scopeOfA}: let "${a.name}" hook ${scopeOfB} too. ${register}`
}

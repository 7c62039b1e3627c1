import type { Act, Case, LayerPlan, ModelCallPlan, ModelPlan, ToolPlan } from './case.ts'

/** The smallest case that still `fails`, by leaving out and simplifying one thing after the other. */
export async function shrink(plan: Case, fails: (plan: Case) => Promise<boolean>): Promise<Case> {
  let smallest = plan
  for (let budget = 2000; budget > 0; ) {
    const smaller = await firstThat(fails, simpler(smallest), budget)
    budget -= smaller.tried
    if (smaller.found === undefined) return smallest
    smallest = smaller.found
  }
  return smallest
}

async function firstThat(fails: (plan: Case) => Promise<boolean>, plans: Iterable<Case>, budget: number) {
  let tried = 0
  for (const plan of plans) {
    if (tried++ >= budget) break
    if (await fails(plan)) return { found: plan, tried }
  }
  return { found: undefined, tried }
}

function* simpler(plan: Case): Generator<Case> {
  for (const scope of ['turn', 'model', 'tool'] as const)
    for (const layers of fewer(plan[scope], simplerLayer)) yield { ...plan, [scope]: layers }
  for (const name of Object.keys(plan.models)) {
    const { [name]: model, ...others } = plan.models
    if (name !== 'm0' && !JSON.stringify(plan).includes(`"model":"${name}"`)) yield { ...plan, models: others }
    if (model !== undefined)
      for (const other of simplerModel(model)) yield { ...plan, models: { ...plan.models, [name]: other } }
  }
  for (const [name, tool] of Object.entries(plan.tools))
    for (const other of simplerTool(tool)) yield { ...plan, tools: { ...plan.tools, [name]: other } }
  const { abortAt, toolConcurrency, onRetryAfterOutput, ...rest } = plan
  const options = {
    ...(abortAt !== undefined && { abortAt }),
    ...(toolConcurrency !== undefined && { toolConcurrency }),
    ...(onRetryAfterOutput !== undefined && { onRetryAfterOutput }),
  }
  for (const key of Object.keys(options)) yield { ...rest, ...options, [key]: undefined } as Case
  if (plan.reader !== 'none') yield { ...plan, reader: 'none' }
  if (abortAt !== undefined && abortAt !== 200) yield { ...plan, abortAt: 200 }
}

/** A list with one item less, or with one item simpler. */
function* fewer<T>(all: readonly T[], simpler: (one: T) => Iterable<T>, least = 0): Generator<T[]> {
  if (all.length > least) for (let i = 0; i < all.length; i++) yield all.filter((_, at) => at !== i)
  for (const [i, one] of all.entries())
    for (const other of simpler(one)) yield all.map((same, at) => (at === i ? other : same))
}

function* simplerLayer(layer: LayerPlan): Generator<LayerPlan> {
  const { reenters, ...rest } = layer
  if (reenters) yield rest
  for (const acts of fewerActs(layer.acts)) yield { ...layer, acts }
}

/** Also with one act taken apart. */
function* fewerActs(acts: readonly Act[]): Generator<Act[]> {
  yield* fewer(acts, simplerAct)
  for (const [i, act] of acts.entries())
    if (act.do === 'try') yield [...acts.slice(0, i), ...act.acts, ...acts.slice(i + 1)]
}

function* simplerAct(act: Act): Generator<Act> {
  if (act.do === 'wait') {
    if (act.for > 1) yield { ...act, for: 1 }
    if (act.deaf) yield { do: 'wait', for: act.for }
  } else if (act.do === 'next') {
    const { within, meanwhile, ...bare } = act
    if (within !== undefined) yield { ...bare, ...(meanwhile !== undefined && { meanwhile }) }
    if (within !== undefined && within > 1) yield { ...act, within: 1 }
    if (meanwhile !== undefined) {
      yield { ...bare, ...(within !== undefined && { within }) }
      for (const acts of fewerActs(meanwhile)) yield { ...act, meanwhile: acts }
    }
  } else if (act.do === 'try') {
    for (const acts of fewerActs(act.acts)) yield { ...act, acts }
    for (const key of ['catch', 'finally'] as const) {
      const inner = act[key]
      if (inner === undefined) continue
      const { [key]: _, ...without } = act
      yield without
      for (const acts of fewerActs(inner)) yield { ...act, [key]: acts }
    }
  } else if (act.do === 'later') for (const acts of fewerActs(act.acts)) yield { ...act, acts }
}

function* simplerModel(model: ModelPlan): Generator<ModelPlan> {
  const { found, ...rest } = model
  if (found !== undefined) yield rest
  for (const calls of fewer(model.calls, simplerCall, 1)) yield { ...model, calls }
}

function* simplerCall(call: ModelCallPlan): Generator<ModelCallPlan> {
  const { asks, ...rest } = call
  if (asks !== undefined) {
    yield rest
    if (asks.length > 1) yield { ...call, asks: asks.slice(0, 1) }
  }
  if (call.chunks.length > 0) yield { ...call, chunks: call.chunks.slice(1) }
  if (call.end !== 'finish') yield { ...call, end: 'finish' }
  for (const key of ['after', 'gap'] as const) if (call[key] > 1) yield { ...call, [key]: 1 }
}

function* simplerTool(tool: ToolPlan): Generator<ToolPlan> {
  const { timeout, ...rest } = tool
  if (timeout !== undefined) yield rest
  if (tool.calls.length > 1) yield { ...tool, calls: tool.calls.slice(0, 1) }
  for (const [i, call] of tool.calls.entries()) {
    const withCall = (other: typeof call) => ({
      ...tool,
      calls: tool.calls.map((same, at) => (at === i ? other : same)),
    })
    if (call.end !== 'value') yield withCall({ ...call, end: 'value' })
    if (call.deaf) yield withCall({ takes: call.takes, end: call.end })
    if (call.takes > 1) yield withCall({ ...call, takes: 1 })
  }
}

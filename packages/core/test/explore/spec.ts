import { type Act, type Case, grace, ticks } from './case.ts'
import type { Outcome } from './outcome.ts'
import { loop } from './spec-loop.ts'
import { type Answer, type Attempt, type Call, Fault, type Layer, outerOf, type Place, Run } from './spec-run.ts'
import { drain, reset, restart, said, say } from './spec-stream.ts'
import { closeHistory, dropHeld, outcomeOf, output, turnReturned, turnSaid } from './spec-turn.ts'
import { type Cell, on, type Steps, VirtualTime } from './virtual-time.ts'

/*
 * The rules of design §4 to §6 as a program: what comes of a case. It is synchronous; a run is a tree of steps in virtual
 * time: calls, in them attempts, in them layers, down to the cores.
 *
 * Readings, where the text can be taken in two ways:
 *  1. A layer's signal is that of the place it stands in (rule 4): one left by a throw or return, where no signal fired,
 *     learns it from its own next(). Only the physical call is cut at once.
 *  2. The stream is reset where the next attempt opens, so a second attempt that fails in silence leaves nothing shown.
 *  3. "How a run ends is decided when the outermost layer has returned": block, abort and stop between that and
 *     `turn:end`, while layers of left attempts are waited for, change nothing; state, `once` and events are taken.
 *  4. A next() that is refused (second, running, late, left, an aborted signal, `stream.reset`) opens nothing, and the
 *     layer may go on as if it had not been called.
 *  5. The error that "an error from a finally does not hide" is what the layer's last next() rejected with.
 *  6. What a pipe has taken and not given when the run ends is lost: a piece of that very instant may have come through.
 *  7. At `abortGrace` every next() around what hangs rejects; what those layers then do may or may not be before the end.
 *  8. A turn layer that answers by `ctx.output` after its next() failed adds nothing to what had been streamed: it begins anew.
 *  9. Where turn layers had not returned when a run failed or was aborted, the history has what the reader saw of the answer.
 */
export function expected(plan: Case): { outcome: Outcome; open: ReadonlySet<keyof Outcome> } {
  const time = new VirtualTime()
  const run = new Run(plan, time)
  if (plan.abortAt !== undefined)
    time.at(ticks(plan.abortAt, 'abort'), () => void end(run, 'aborted', new Fault('from outside')))
  let outcome: Outcome | undefined
  const turn = callOf(run, 'turn', 'turn', undefined, (attempt) => loop(run, attempt))
  time.start(wholeTurn(run, turn)).settled(() => {
    outcome = outcomeOf(run)
  })
  time.run()
  return { outcome: outcome ?? { ...outcomeOf(run), status: 'failed', why: never }, open: run.open }
}

/** Why a case is none: nothing ends it. */
export const never = 'the run never settles'

/** The turn to its end: decided when the outermost layer has returned, told when left attempts have unwound. */
function* wholeTurn(run: Run, call: Call): Steps<void> {
  try {
    yield* on(through(run, call))
  } catch (error) {
    end(run, 'failed', error as Fault)
  }
  run.decided = true
  for (const layer of run.layers) {
    const left = leftAt(layer.attempt)
    if (layer.exited || left === undefined) continue
    const deadline = Math.min(left, run.ended?.at ?? left) + grace
    if (deadline > run.time.now) yield* on(first(run, [layer.done, run.time.after(deadline - run.time.now)]))
    if (!layer.exited) hangs(run)
  }
  closeHistory(run)
  run.over = true
}

/** Lets a call pass its onion. */
export function through(run: Run, call: Call): Cell<Answer> {
  const place = call.around?.place ?? run.root
  const start = call.around?.fields ?? { model: 'm0', marks: [] }
  return enter(run, attemptOf(run, call, undefined, { number: 1, place, fields: start }))
}

export function callOf(
  run: Run,
  scope: Call['scope'],
  key: string,
  around: Attempt | undefined,
  core: Call['core'],
): Call {
  return { scope, key, layers: run.plan[scope], core, around, numbers: 1, denied: undefined, visits: new Map() }
}

/** Runs what is inside an attempt, and settles it: rule 3. */
function enter(run: Run, attempt: Attempt): Cell<Answer> {
  const { call, caller } = attempt
  const index = caller === undefined ? 0 : call.layers.indexOf(caller.plan) + 1
  const plan = call.layers[index]
  run.attempts.push(attempt)
  if (plan === undefined) attempt.core = run.cell()
  const inside = plan === undefined ? coreOf(run, attempt) : run.time.start(layerIn(run, attempt, plan))
  inside.settled(() => {
    const { outcome } = inside
    if (outcome === undefined) return
    // What ran inside an attempt that was left has no effect; layers in there learn it from their next().
    if (gone(attempt)) return attempt.result.reject(new Fault('layer.left'))
    drain(run, attempt, !outcome.ok)
    if (run.ended !== undefined) return fail(attempt, run.ended.error)
    if (!outcome.ok) return fail(attempt, outcome.error)
    succeed(run, attempt, outcome.value)
  })
  return attempt.result
}

function succeed(run: Run, attempt: Attempt, value: Answer): void {
  const { caller, call } = attempt
  attempt.state = 'succeeded'
  if (caller !== undefined && caller.plan.reenters === undefined && !gone(caller.attempt))
    caller.attempt.fields = attempt.fields
  if (call.scope === 'turn') turnSaid(run, attempt.out)
  attempt.result.resolve(call.scope === 'model' ? said(attempt, value) : value)
}

function fail(attempt: Attempt, error: unknown): void {
  attempt.state = 'failed'
  attempt.result.reject(error)
}

function coreOf(run: Run, attempt: Attempt): Cell<Answer> {
  const { core } = attempt
  if (core === undefined) throw new Error('An attempt without a core.')
  const steps = run.time.start(attempt.call.core(attempt))
  steps.settled(() =>
    steps.outcome?.ok === true ? core.resolve(steps.outcome.value) : core.reject(steps.outcome?.error),
  )
  return core
}

/** A layer in its attempt, from its first act to what it returns. */
function* layerIn(run: Run, attempt: Attempt, plan: Layer['plan']): Steps<Answer> {
  const visit = attempt.call.visits.get(plan.name) ?? 0
  attempt.call.visits.set(plan.name, visit + 1)
  const me: Layer = { plan, attempt, visit, exited: false, done: run.cell(), transforms: [], holds: false }
  run.layers.push(me)
  attempt.layer = me
  let what: Return | undefined
  try {
    what = yield* perform(run, me, plan.acts, '')
  } catch (error) {
    exit(run, me, error as Fault)
    dropHeld(run, me)
    throw me.failed === undefined || carries(error as Fault, me.failed) ? error : me.failed
  }
  const floats = me.inner?.state === 'running'
  exit(run, me, new Fault(`layer.floating_next ${plan.name}`))
  if (run.ended !== undefined) throw run.ended.error
  if (floats) throw new Fault(`layer.floating_next ${plan.name}`)
  if (gone(attempt)) throw new Fault('layer.left')
  return returned(run, me, what)
}

/** Rule 3, 4: what still runs inside a layer that is gone is left. */
function exit(run: Run, me: Layer, reason: Fault): void {
  if (me.exited) return
  me.exited = true
  me.done.resolve(undefined)
  if (me.inner?.state === 'running') leave(run, me.inner, reason)
}

function carries(error: Fault, cause: Fault): boolean {
  return error === cause || (error.first !== undefined && carries(error.first, cause))
}

/** next(): rules 3, 4 and 6. */
function next(run: Run, me: Layer, within: number | undefined, path: string): Cell<Answer> {
  const refuse = (label: string, first?: Fault) => rejected(run, new Fault(label, first))
  const { call } = me.attempt
  if (me.exited) return refuse(`layer.next_late ${me.plan.name}`)
  if (me.inner?.state === 'running') return refuse(`layer.next_running ${me.plan.name}`)
  if (run.ended !== undefined) return rejected(run, run.ended.error)
  if (gone(me.attempt)) return refuse('layer.left')
  const decided = call.denied ?? me.skip
  if (decided !== undefined) return resolved(run, decided)
  const again = me.inner !== undefined
  if (again && !mayReenter(me)) return refuse(`layer.next_twice ${me.plan.name}`)
  if (within === 0) return rejected(run, (me.failed = new Fault(`deadline of ${me.plan.name}${path}`)))
  if (again && me.attempt.used) {
    if (run.plan.resets === 'refuse' && run.visible) return refuse('stream.reset', me.failed)
    reset(run, me.attempt)
  }
  const place: Place = within === undefined ? me.attempt.place : narrow(me.attempt.place)
  const number = again ? ++call.numbers : me.attempt.number
  const attempt = attemptOf(run, call, me, { number, place, fields: me.attempt.fields })
  me.inner = attempt
  me.failed = undefined
  restart(attempt)
  if (me.holds && call.scope === 'turn') holdTurn(run, me)
  if (within !== undefined) {
    const reason = new Fault(`deadline of ${me.plan.name}${path}`)
    run.time.at(run.time.now + lasts(me, within, path), () => {
      if (attempt.state !== 'running' || gone(me.attempt)) return
      leave(run, attempt, reason)
      fire(place, reason)
    })
  }
  const result = enter(run, attempt)
  result.settled(() => {
    if (result.outcome?.ok === false) me.failed = result.outcome.error as Fault
  })
  return result
}

function holdTurn(run: Run, me: Layer): void {
  if (run.holders.size === 0) run.kept = [[]]
  run.holders.add(me)
}

/** After a failure, and after a success by a layer that declares it; the turn is entered once. */
function mayReenter({ attempt, inner, plan }: Layer): boolean {
  return attempt.call.scope !== 'turn' && (inner?.state !== 'succeeded' || plan.reenters === true)
}

/** The attempt is over for all inside: physical calls are cut, the caller goes on; what hangs is given up after a while. */
function leave(run: Run, attempt: Attempt, reason: Fault): void {
  attempt.state = 'left'
  attempt.leftAt = run.time.now
  const inside = run.attempts.filter((one) => isInside(one, attempt))
  for (const one of inside) one.core?.reject(reason)
  attempt.result.reject(reason)
  run.time.at(run.time.now + grace, () => {
    for (const one of inside.reverse()) one.result.reject(reason)
  })
}

/** The run ends before its time: the first abort or block stays, and beats a failure. */
export function end(run: Run, kind: 'aborted' | 'blocked' | 'failed', error: Fault): void {
  const before = run.ended
  if (run.decided || (before !== undefined && (before.kind !== 'failed' || kind === 'failed'))) return
  run.ended = { kind, error, at: before?.at ?? run.time.now }
  if (run.flowedAt === run.time.now) for (const aspect of ['text', 'shown', 'history'] as const) run.open.add(aspect)
  if (before !== undefined) return
  for (const { core, call } of run.attempts) if (call.scope !== 'turn') core?.reject(error)
  fire(run.root, error)
  run.time.at(run.time.now + grace, () => giveUp(run, error, outlives))
  run.time.at(run.time.now + 2 * grace, () => giveUp(run, error, () => false))
}

/** What hangs for too long is left, and every next() around it rejects, from the inside out. */
function giveUp(run: Run, error: Fault, stays: (attempt: Attempt) => boolean): void {
  const hanging = run.attempts.filter(({ result }) => result.outcome === undefined).reverse()
  const given = hanging.filter((attempt) => !stays(attempt))
  if (given.length > 0) hangs(run)
  for (const attempt of given) {
    attempt.state = 'left'
    attempt.result.reject(error)
  }
}

/** The turn itself, where its outermost layer is around what hangs: it has as long again. */
function outlives({ call, caller, layer }: Attempt): boolean {
  return call.scope === 'turn' && caller === undefined && layer?.inner?.state === 'running'
}

/** Reading 7. */
function hangs(run: Run): void {
  for (const aspect of ['state', 'heard', 'streamed', 'once', 'late', 'endedAt'] as const) run.open.add(aspect)
}

/** The acts of a layer. Gives what it returns, where it says so. */
function* perform(run: Run, me: Layer, acts: readonly Act[], path: string): Steps<Return | undefined> {
  for (const [i, act] of acts.entries()) {
    const here = `${path}.${i}`
    if (act.do === 'return') return act
    if (act.do === 'wait') yield* wait(run, me, lasts(me, act.for, here), act.deaf)
    else if (act.do === 'try') {
      const what = yield* attempted(run, me, act, here)
      if (what !== undefined) return what
    } else if (act.do === 'next') {
      me.given = undefined
      const result = next(run, me, act.within, here)
      const what = yield* perform(run, me, act.meanwhile ?? [], `${here}m`)
      if (what !== undefined) return what
      me.given = yield* on(result)
    } else if (act.do === 'later') {
      const steps = later(run, me, act, here)
      run.time.start(steps)
    } else if (act.do === 'once') yield* once(run, me, act)
    else verb(run, me, act, here)
  }
  return undefined
}

function* attempted(run: Run, me: Layer, act: Act & { do: 'try' }, here: string): ReturnType<typeof perform> {
  let what: Return | undefined
  try {
    what = yield* perform(run, me, act.acts, `${here}t`)
  } catch (error) {
    if (act.catch === undefined) throw error
    what = yield* perform(run, me, act.catch, `${here}c`)
  } finally {
    if (act.finally !== undefined) what = (yield* perform(run, me, act.finally, `${here}f`)) ?? what
  }
  return what
}

function* later(run: Run, me: Layer, act: Act & { do: 'later' }, here: string): Steps<void> {
  yield* on(run.time.after(lasts(me, act.after, here)))
  try {
    yield* perform(run, me, act.acts, `${here}l`)
  } catch {}
}

function* wait(run: Run, me: Layer, duration: number, deaf: true | undefined): Steps<void> {
  const cell = run.time.after(duration)
  const { place } = me.attempt
  if (deaf === undefined) {
    const reason = reasonOf(place)
    if (reason !== undefined) throw reason
    for (let at: Place | undefined = place; at !== undefined; at = at.outer) at.waiting.add(cell)
  }
  yield* on(cell)
}

/** What is said while its attempt lives counts; what a left or failed one tries is told, and has no effect. */
function verb(run: Run, me: Layer, act: Act, path: string): void {
  const { attempt, plan } = me
  const dead = gone(attempt)
  const tries = (name: string) => {
    if (dead && !run.over) run.late.add(`${plan.name} ${name}`)
    return !dead
  }
  const label = `${act.do} by ${plan.name}${path}`
  const write = !dead && !me.exited
  switch (act.do) {
    case 'throw':
      throw new Fault(label)
    case 'state':
      if (!run.over) run.state[plan.name] = (run.state[plan.name] ?? 0) + 1
      return
    case 'emit':
      if (!run.over) run.heard.push(label)
      if (!run.over && !dead) run.streamed.push(label)
      return
    case 'stop':
      if (tries('stop') && !run.decided) run.stopped ??= label
      return
    case 'block':
    case 'abort': {
      if (!tries(act.do)) throw new Fault('layer.left')
      const error = new Fault(label)
      end(run, act.do === 'block' ? 'blocked' : 'aborted', error)
      throw run.ended?.error ?? error
    }
    case 'deny':
      if (tries('deny') && !me.exited) attempt.call.denied ??= { text: label, asks: [], status: 'denied' }
      return
    case 'skip':
      if (tries('skipCall') && !me.exited) me.skip = { text: label, asks: [], status: 'skipped' }
      return
    case 'mark':
      if (write)
        attempt.fields = { ...attempt.fields, marks: [...attempt.fields.marks, `${plan.name}#${attempt.number}`] }
      return
    case 'use':
      if (write) attempt.fields = { ...attempt.fields, model: act.model }
      return
    case 'output':
      return output(run, me, act)
    case 'hold':
      me.holds = true
      return
    case 'map':
    case 'pipe':
      me.transforms.push(act)
  }
}

type Return = Act & { do: 'return' }

/** What a layer returned becomes its answer: rules 5 and 6, and §6 for the stream. */
function returned(run: Run, me: Layer, what: Return | undefined): Answer {
  const { attempt, plan } = me
  const { call } = attempt
  if (call.scope === 'turn') return turnReturned(run, me)
  if (call.denied !== undefined) return call.denied
  const value = what === undefined ? me.given : answerOf(me, what)
  const answer = value ?? me.skip
  if (answer === undefined) throw new Fault(`layer.no_result ${plan.name}`)
  return call.scope === 'tool' ? answer : say(run, me, answer)
}

function answerOf({ given, plan }: Layer, { what }: Return): Answer | undefined {
  if (what === 'own') return { text: `own of ${plan.name}`, asks: [] }
  if (what === 'nothing' || given === undefined) return undefined
  return { ...given, text: what === 'append' ? `${given.text}+` : `(${given.text})` }
}

/** One run of a function for each key and turn, whoever began it; who joined one that failed runs its own. */
function* once(run: Run, me: Layer, act: Act & { do: 'once' }): Steps<void> {
  const { scope, key: call } = me.attempt.call
  const key = scope === 'tool' ? `${call}:${act.key}` : act.key
  for (;;) {
    const running = run.doing.get(key)
    if (running === undefined) break
    if (yield* on(running)) return
    if (run.doing.get(key) === running) run.doing.delete(key)
  }
  const cell = run.cell<boolean>()
  run.doing.set(key, cell)
  const n = run.onces[key] ?? 0
  if (!run.over) run.onces[key] = n + 1
  yield* on(run.time.after(ticks(act.takes, `once ${key} ${n}`)))
  const fails = n < (act.fails ?? 0)
  cell.resolve(!fails)
  if (fails) throw new Fault(`once ${key}`)
}

/** Whether nothing inside this attempt has an effect any more. */
export function gone(attempt: Attempt): boolean {
  for (let at: Attempt | undefined = attempt; at !== undefined; at = outerOf(at))
    if (at.state === 'failed' || at.state === 'left') return true
  return false
}

function isInside(attempt: Attempt, outer: Attempt): boolean {
  for (let at: Attempt | undefined = attempt; at !== undefined; at = outerOf(at)) if (at === outer) return true
  return false
}

/** When the first attempt around was left, if one was. */
function leftAt(attempt: Attempt): number | undefined {
  let first: number | undefined
  for (let at: Attempt | undefined = attempt; at !== undefined; at = outerOf(at))
    if (at.leftAt !== undefined) first = Math.min(first ?? at.leftAt, at.leftAt)
  return first
}

function attemptOf(
  run: Run,
  call: Call,
  caller: Layer | undefined,
  { number, place, fields }: Pick<Attempt, 'number' | 'place' | 'fields'>,
): Attempt {
  const nothing = { used: false, out: [], pipes: [], held: [] }
  return { call, caller, number, place, fields, state: 'running', result: run.cell(), ...nothing }
}

function narrow(outer: Place): Place {
  return { outer, reason: undefined, waiting: new Set() }
}

function reasonOf(place: Place | undefined): Fault | undefined {
  return place === undefined ? undefined : (place.reason ?? reasonOf(place.outer))
}

function fire(place: Place, reason: Fault): void {
  place.reason = reason
  for (const cell of place.waiting) cell.reject(reason)
}

/** How long something takes that a layer does at one place of its acts. */
function lasts({ attempt, plan, visit }: Layer, coarse: number, path: string): number {
  return ticks(coarse, `${attempt.call.key}/${plan.name}${path}/${visit}`)
}

function first(run: Run, cells: readonly Cell[]): Cell {
  const any = run.cell()
  for (const cell of cells) cell.settled(() => any.resolve(undefined))
  return any
}

function rejected(run: Run, fault: Fault): Cell<Answer> {
  const cell = run.cell<Answer>()
  cell.reject(fault)
  return cell
}

function resolved(run: Run, answer: Answer): Cell<Answer> {
  const cell = run.cell<Answer>()
  cell.resolve(answer)
  return cell
}

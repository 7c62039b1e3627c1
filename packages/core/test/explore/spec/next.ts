import type { Act } from '../case.ts'
import { lasts, perform } from './acts.ts'
import { fire, gone, leave, leftAt, narrow } from './ends.ts'
import { type Answer, type Attempt, type Call, Fault, type Layer, type Place, type Run } from './run.ts'
import { drain, passesPipe, reset, restart, said, say } from './stream.ts'
import { dropHeld, holdTurn, turnReturned, turnSaid } from './turn.ts'
import type { Cell, Steps } from './virtual-time.ts'

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
    if (gone(attempt)) return attempt.result.reject(new Fault('layer.abandoned'))
    drain(run, attempt, !outcome.ok)
    if (run.ended !== undefined) return fail(attempt, run.ended.error, 'ended')
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

function fail(attempt: Attempt, error: unknown, state: 'failed' | 'ended' = 'failed'): void {
  attempt.state = state
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
  const me: Layer = {
    plan,
    attempt,
    visit,
    exited: false,
    done: run.cell(),
    transforms: [],
    holds: false,
    next: (within, path) => next(run, me, within, path),
  }
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
  if (floats) {
    dropHeld(run, me)
    throw new Fault(`layer.floating_next ${plan.name}`)
  }
  if (gone(attempt)) throw new Fault('layer.abandoned')
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
  if (gone(me.attempt)) return refuse('layer.abandoned')
  const decided = call.denied ?? me.skip
  if (decided !== undefined) return resolved(run, decided)
  const again = me.inner !== undefined
  if (again && !mayReenter(me)) return refuse(`layer.next_twice ${me.plan.name}`)
  if (within === 0) return refuse(`deadline of ${me.plan.name}${path}`)
  if (again && me.attempt.used) {
    if (run.plan.onRetryAfterOutput === 'fail' && run.visible) {
      // Reading 10.
      if (run.shownAt === run.time.now && passesPipe(me.attempt)) run.openAll()
      return refuse('stream.reset', me.failed)
    }
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
      if (attempt.state !== 'running' || gone(me.attempt) || leftAt(attempt) !== undefined) return
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

/** After a failure, and after a success by a layer that declares it; the turn is entered once. */
function mayReenter({ attempt, inner, plan }: Layer): boolean {
  return attempt.call.scope !== 'turn' && (inner?.state !== 'succeeded' || plan.reenters === true)
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

function answerOf({ given, plan, attempt }: Layer, { what }: Return): Answer | undefined {
  if (what === 'own') return { text: `own of ${plan.name}, who sees ${seen(attempt)}`, asks: [] }
  if (what === 'nothing' || given === undefined) return undefined
  return { ...given, text: what === 'append' ? `${given.text}+` : `(${given.text})` }
}

/** What would be sent from there. */
function seen({ call, fields: { model, marks } }: Attempt): string {
  return [call.scope === 'model' ? model : '', ...marks].join()
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

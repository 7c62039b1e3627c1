import { AlliumError } from '../errors/allium-error.ts'
import { describe } from '../errors/describe.ts'
import { toMessages } from '../messages/check-messages.ts'
import { inheritOnion } from '../middleware/onion.ts'
import { type AdaptModel, describeModel, type KnownModel, knownModel, type ToolDef } from '../model/model.ts'
import { modelRing } from '../model/scope/ring.ts'
import type { Onion } from '../onion/hook.ts'
import type { OutputPlan } from '../output/plan.ts'
import type { WrappedRun } from '../ports/around.ts'
import type { Clock } from '../ports/clock.ts'
import { isDirect, type Journal, noItems } from '../ports/journal.ts'
import type { UntrustedSchema } from '../ports/validate.ts'
import type { RunEvents } from '../stream/event-queue.ts'
import { clientTool, maxClientTools, partlyChecked } from '../tool/client-tool.ts'
import { toolRing } from '../tool/scope/ring.ts'
import { inheritedInputs, throughInputLayers } from '../turn/inputs.ts'
import { Turn, type TurnRings } from '../turn/turn.ts'
import type { Began, Resume } from '../turn/turn-options.ts'
import { turnRing } from '../turn/turn-ring.ts'
import type { AbortableWaits } from './abortable-waits.ts'
import { EventForwarder } from './event-forwarder.ts'
import type { Task } from './options.ts'
import type { StoredAs } from './run-keys.ts'
import type { SessionScope } from './scope/session-scope.ts'
import type { SessionHost } from './session-host.ts'

/** Returns the plan for structured output, if the run has the option `output`. */
export async function outputOf<C>(task: Task<C>, scope: SessionScope): Promise<OutputPlan | undefined> {
  const { output } = task.options
  if (output === undefined) return undefined
  const hasTools = scope.agent.tools.defs.length + clientToolsOf(task, scope).length > 0
  const { outputPlan } = await import('../later.ts')
  const plan = outputPlan(output, hasTools)
  const { unchecked = [] }: Partial<UntrustedSchema> = plan.schema ?? {}
  if (unchecked.length > 0)
    scope.agent.warnOnce(`output:${unchecked[0]}`, partlyChecked('of the option output', unchecked))
  return plan
}

const rings: TurnRings = { turn: turnRing, model: modelRing, tool: toolRing }

/** Creates the turn of a run from its input and options. Discards suspended calls, unless the run resumes them. */
export function turnOf<C>(
  { input, options }: Task<C>,
  scope: SessionScope,
  host: SessionHost,
  events: RunEvents,
  { resume, storedAs, began, tools, output, journal, clock, Steps }: Prepared,
): Turn {
  const { setup } = scope.agent
  const messages = resume === undefined ? toMessages(input) : []
  scope.checkCallIds(messages)
  const context = options.context === undefined ? scope.context : host.checkContext(options.context)
  const onion = onionOf(options, scope, host, output)
  const model = options.model === undefined ? setup.model : runModel(options.model, setup.adaptModel)
  scope.beginRun(resume !== undefined)
  scope.clock = clock ?? options.clock ?? setup.clock
  const forwarder = scope.parent === undefined ? undefined : new EventForwarder(events, scope.parent.$turn, setup.name)
  const turn = new Turn(rings, scope, {
    input: messages,
    resume,
    context,
    model,
    settings: options.settings === undefined ? setup.settings : { ...setup.settings, ...options.settings },
    maxSteps: options.maxSteps ?? setup.maxSteps,
    onion,
    tools: tools?.tools ?? scope.agent.tools,
    clientTools: tools?.clientTools,
    events: forwarder ?? events,
    format: output,
    onRetryAfterOutput: options.onRetryAfterOutput ?? 'reset',
    storedAs,
    turnId: options.turnId,
    journal: journal ?? setup.journal,
    began,
  })
  if (Steps !== undefined) turn.steps = new Steps(turn, began?.before)
  if (forwarder !== undefined) forwarder.turn = turn
  return turn
}

/** The result of `prepare`, for a run that has something to wait for. */
export interface Prepared extends Pick<WrappedRun, 'journal' | 'clock'> {
  readonly resume?: Resume | undefined
  /** @default the agent's tools */
  readonly output?: OutputPlan | undefined
  readonly tools?: Awaited<ReturnType<typeof toolsOf>> | undefined
  readonly storedAs?: StoredAs | undefined
  readonly began?: Began | undefined
  /** Records the steps in the journal. Undefined without a journal. */
  readonly Steps?: typeof import('../turn/steps.ts').Steps | undefined
}

/** Prepares a run inside the session's wrappers: plans its output, reads the schemas of its client tools, and checks the decisions. */
export async function prepare<C>(
  { task, scope, host }: { task: Task<C>; scope: SessionScope; host: Pick<SessionHost, 'checkPrincipal'> },
  waits: AbortableWaits,
  journal = journalOf(task.options, scope),
): Promise<Omit<Prepared, 'storedAs'>> {
  const { decisions, options } = task
  const { approver: given, turnId = scope.comingTurnId } = options
  const output = await waits.until(outputOf(task, scope))
  const tools = await waits.until(toolsOf(task, scope))
  let resume: Resume | undefined
  if (decisions !== undefined) {
    const approver = given === undefined ? undefined : host.checkPrincipal(given)
    const { checkedDecisions, useDecisions } = await waits.until(import('../later.ts'))
    resume = useDecisions(scope, await waits.until(checkedDecisions(scope, decisions, approver, tools.tools)))
  }
  const prepared = { resume, output, tools, journal }
  if (isDirect(journal)) return prepared
  const { Steps } = await waits.until(import('../later.ts'))
  if (!isRestartable(options, scope)) return { ...prepared, Steps }
  return {
    ...prepared,
    Steps,
    began: await waits.until(beginIn(journal, turnId, options.clock ?? scope.agent.setup.clock)),
  }
}

/** Returns the journal of the run, of the agent, or of the parent agent. */
export function journalOf<C>({ journal }: Task<C>['options'], scope: SessionScope): Journal {
  return journal ?? scope.journal
}

/**
 * Whether the journal records the start of the run, too. This is the case if the run was given an id or a journal, or belongs
 * to such a run.
 */
function isRestartable<C>({ turnId, journal }: Task<C>['options'], scope: SessionScope): boolean {
  return turnId !== undefined || journal !== undefined || scope.parent?.$turn.options.began !== undefined
}

async function beginIn(journal: Journal, turnId: string, clock: Clock): Promise<Began> {
  let before = true
  const begin = () => {
    before = false
    return clock.now()
  }
  return { at: await journal.step(`${turnId}:start`, begin, noItems), before }
}

/**
 * Returns the tools of a run: the agent's and the client's, whose schemas are read. @throws AlliumError `run.options`,
 * `tool.duplicate`, `tool.invalid`, `schema.limits`
 */
export async function toolsOf<C>(task: Pick<Task<C>, 'options' | 'decisions'>, scope: SessionScope) {
  const { agent } = scope
  const clientTools = clientToolsOf(task, scope)
  if (clientTools.length === 0) return { tools: agent.tools, clientTools: undefined }
  const made = await Promise.all(clientTools.map((def) => clientTool(def, agent)))
  return { tools: agent.tools.with(made), clientTools }
}

function clientToolsOf<C>(
  { options, decisions }: Pick<Task<C>, 'options' | 'decisions'>,
  { suspension }: SessionScope,
): readonly ToolDef[] {
  const clientTools = options.clientTools ?? (decisions === undefined ? [] : (suspension?.clientTools ?? []))
  const fault = Array.isArray(clientTools)
    ? clientTools.length > maxClientTools && `has ${clientTools.length} tools. The maximum is ${maxClientTools}.`
    : `must be a list of { name, description, jsonSchema }, not ${describe(clientTools)}.`
  if (fault) throw new AlliumError('run.options', `The option clientTools ${fault}`)
  return clientTools
}

/** Passes the task's input through the layers that it inherits from parent agents, and returns the new task. */
export async function delegated<C>(task: Task<C>, scope: SessionScope): Promise<Task<C>> {
  const steps = inheritedInputs(scope)
  if (steps.length === 0 || task.decisions !== undefined) return task
  return { ...task, input: await throughInputLayers(toMessages(task.input), steps) }
}

function onionOf<C>(
  { use }: Task<C>['options'],
  { agent, parent }: SessionScope,
  host: SessionHost,
  output: OutputPlan | undefined,
): Onion {
  const inner = output?.layer
  const agentOnion = use === undefined && inner === undefined ? agent.onion : host.onionWith(use, inner)
  return parent === undefined ? agentOnion : inheritOnion(parent.$turn.options.onion, agentOnion, agent.tools)
}

function runModel(given: unknown, adapt: AdaptModel | undefined): KnownModel {
  const model = knownModel(given, adapt)
  if (model !== undefined) return model
  throw new AlliumError('model.invalid', `A run takes a model or a string, but ${describeModel(given)}.`)
}

import { Agent, type AnyTool, type Middleware } from '@allium/core'
import { z } from 'zod'
import * as guard from '../../src/guard.ts'
import * as memory from '../../src/memory.ts'
import * as tools from '../../src/tools.ts'
import { tasks } from './harmless-tasks.ts'
import { obedient, type Wish } from './obedient.ts'
import { tool } from './world.ts'

/** What came of a task with a person who approves what they wanted. */
interface Done {
  readonly task: string
  readonly isComplete: boolean
  readonly questions: number
}

export interface Shares {
  readonly tasks: number
  readonly complete: number
  readonly unasked: number
  readonly done: readonly Done[]
}

const rating = z.object({ stars: z.int().min(1).max(5), topic: z.enum(['price', 'quality', 'other']) })

/** The guard as an app sets it up: the user's own address, its own hosts, ratings read in quarantine. */
export function setUp(): Middleware {
  const reader = obedient('reader')
  reader.wishes.push(...Array.from({ length: 99 }, () => JSON.stringify({ stars: 4, topic: 'price' })))
  return guard.flow({
    own: (principal) => [(principal as { email: string }).email],
    links: ['*.example.org'],
    quarantine: { rate_review: rating },
    reader,
  }) as Middleware
}

/** Does all tasks, in a session each, and counts those that come to their end, and those that do so unasked. */
export async function harmless(makeGuard: () => Middleware | undefined): Promise<Shares> {
  const done: Done[] = []
  for (const task of tasks) done.push(await doTask(task, makeGuard()))
  const complete = done.filter(({ isComplete }) => isComplete)
  const unasked = complete.filter(({ questions }) => questions === 0)
  return { tasks: tasks.length, complete: complete.length, unasked: unasked.length, done }
}

async function doTask(task: string, layer: Middleware | undefined): Promise<Done> {
  const at = task.indexOf(':')
  const [steps, answer] = [task.slice(0, at), task.slice(at + 1).trim()]
  const wishes = steps.split('>').map((step): Wish => step.split(',').map((name) => wanted(name.trim())))
  const model = obedient('m')
  model.wishes.push(...wishes, answer)
  const ran: string[] = []
  // One after the other, so that what a call brings is there before the next of its step begins.
  const setup = { toolConcurrency: 1, logger: { warn() {}, error() {} } }
  const agent = new Agent({ model, tools: made(ran), ...setup }).use(memory.plan())
  agent.use(researcher())
  if (layer !== undefined) agent.use(layer)
  const session = agent.session({ principal: { userId: 'ann', email: 'ann@example.org' } })
  let result = await session.run('go')
  let questions = 0
  while (result.status === 'suspended') {
    questions += result.pending.length
    result = await session.resume(Object.fromEntries(result.pending.map(({ callId }) => [callId, { approve: true }])))
  }
  const due = wishes.flat().filter((one) => typeof one !== 'string' && !/^(plan|researcher)$/.test(one.name)).length
  return { task, isComplete: ran.length === due && result.text === answer, questions }
}

function wanted(name: string) {
  if (name === 'plan') return { name, args: { items: [{ text: 'Do it', status: 'completed' }] } }
  if (name === 'mail_me') return { name, args: { to: 'ann@example.org' } }
  return name === 'researcher' ? { name, args: { task: 'go' } } : { name, args: {} }
}

function made(ran: string[]): AnyTool[] {
  const both = { untrusted: true, private: true }
  const flows: Record<string, AnyTool['flow']> = {
    weather: {},
    calculate: {},
    search_web: { untrusted: true },
    read_page: { untrusted: true },
    rate_review: { untrusted: true },
    read_inbox: both,
    read_file: both,
    read_calendar: { private: true },
    crm: { private: true },
    read_docs: { private: true },
    save_note: { writes: true },
    create_event: { writes: true },
    update_ticket: { writes: true },
    send_mail: { sends: true },
    post_chat: { sends: true },
    mail_me: { sends: true, to: ({ to }: never) => [to] } as AnyTool['flow'],
  }
  return Object.entries(flows).map(([name, flow]) => tool(name, flow, () => `${name} ${ran.push(name)}`))
}

function researcher() {
  const model = obedient('r')
  model.wishes.push([{ name: 'look_up' }], 'Three sources.')
  const agent = new Agent({ name: 'researcher', model, tools: [tool('look_up', { untrusted: true })] })
  return tools.agent({ agent, description: 'Finds sources' })
}

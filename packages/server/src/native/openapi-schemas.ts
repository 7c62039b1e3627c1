import { components } from './bodies.ts'

type Schema = Readonly<Record<string, unknown>>

const text: Schema = { type: 'string' }
const count: Schema = { type: 'integer', minimum: 0 }
const any: Schema = {}

const feedback = open(
  {
    turnId: text,
    messageId: text,
    score: { type: 'number', minimum: 0, maximum: 1 },
    comment: text,
    tags: list(text),
    at: { type: 'number' },
  },
  ['messageId', 'comment', 'tags'],
)

/** Schemas of the answers, and of shared parts of bodies, by name. */
export const schemas: Readonly<Record<string, Schema>> = {
  ...components,
  Problem: open({ code: text, message: text, requestId: text }),
  Usage: open({ inputTokens: count, outputTokens: count }),
  Pending: open({ callId: text, name: text, args: { type: 'object' }, token: text, client: { const: true } }, [
    'token',
    'client',
  ]),
  Answer: open(
    {
      sessionId: text,
      turnId: text,
      status: { enum: ['completed', 'stopped', 'blocked', 'suspended', 'aborted'] },
      text,
      output: any,
      usage: ref('Usage'),
      pending: list(ref('Pending')),
      reason: text,
      code: text,
      finishReason: { enum: ['stop', 'length', 'tool-calls', 'content-filter', 'other'] },
      resumes: text,
    },
    ['output', 'reason', 'code', 'finishReason', 'resumes'],
  ),
  Events: {
    type: 'string',
    description:
      'Server-sent events. Each has a type, an id to resume after, and JSON as data. See /docs/concepts/events.md.',
  },
  Sessions: page('sessions', open({ id: text, version: count, status: text, updatedAt: { type: 'number' } })),
  Approvals: page('approvals', { allOf: [ref('Pending'), open({ sessionId: text, owner: text })] }),
  Messages: open(
    {
      messages: list(
        open({ id: text, role: { enum: ['system', 'user', 'assistant'] }, parts: list({ type: 'object' }) }),
      ),
      running: { type: 'boolean' },
      before: count,
    },
    ['before'],
  ),
  SessionUsage: open({ tokens: any, cost: any, models: any }),
  SessionState: open({ state: { type: 'object' } }),
  Forked: open({ id: text }),
  Stopped: open({ stopped: { const: true } }),
  Decided: open({ callId: text, decision: { enum: ['approved', 'edited', 'denied'] } }),
  Steered: open({ id: text }),
  Feedback: feedback,
  FeedbackList: open({ feedback: list(feedback) }),
  Agents: open({ agents: list(text) }),
  Health: open({ ok: { type: 'boolean' } }),
  Foreign: { type: 'object', description: 'As the protocol defines it.' },
}

export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` }
}

function list(items: Schema): Schema {
  return { type: 'array', items }
}

function page(name: string, item: Schema): Schema {
  return open({ [name]: list(item), cursor: text }, ['cursor'])
}

function open(properties: Record<string, Schema>, optional: readonly string[] = []): Schema {
  return { type: 'object', required: Object.keys(properties).filter((name) => !optional.includes(name)), properties }
}

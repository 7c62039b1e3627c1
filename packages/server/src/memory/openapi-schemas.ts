type Schema = Readonly<Record<string, unknown>>

const text: Schema = { type: 'string' }
const count: Schema = { type: 'integer', minimum: 0 }
const time: Schema = { type: 'number', description: 'Milliseconds since the epoch.' }
const flag: Schema = { type: 'boolean' }

const memorySwitch = { on: flag, off: { type: 'object' } }
const block = { name: text, block: { type: 'object' }, version: count, fields: { type: 'object' } }
const change = open({ version: count, at: time, by: { enum: ['model', 'person'] }, block: {} })
const passage = open(
  {
    ...{ sessionId: text, turnId: text, index: count, role: { enum: ['user', 'assistant'] } },
    ...{ at: time, text, isCut: { const: true } },
  },
  ['isCut'],
)

/** Schemas of the answers for the OpenAPI document, by name. */
export const schemas: Readonly<Record<string, Schema>> = {
  Memory: open({ ...memorySwitch, passages: count, blocks: list(open(block)) }),
  MemorySwitch: open(memorySwitch),
  MemoryBlock: open(block),
  MemoryChanges: open({ changes: list(change) }),
  MemoryPassages: open({ items: list(passage), cursor: text }, ['cursor']),
  MemoryDeleted: open({ deleted: count, more: flag }),
}

function list(items: Schema): Schema {
  return { type: 'array', items }
}

function open(properties: Record<string, Schema>, optional: readonly string[] = []): Schema {
  return { type: 'object', required: Object.keys(properties).filter((name) => !optional.includes(name)), properties }
}

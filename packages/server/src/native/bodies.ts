const output = {
  type: 'object',
  description: 'A JSON Schema of an object: the text of the answer is JSON of that form, and `output` what was parsed.',
  required: ['type'],
  properties: { type: { const: 'object' } },
} as const

/** What the bodies of the routes hold, as JSON Schema: the routes take these fields and no others, and the document has them. */
export const bodies = {
  run: {
    type: 'object',
    required: ['input'],
    additionalProperties: false,
    properties: {
      input: {
        oneOf: [
          { type: 'string', minLength: 1 },
          { type: 'array', minItems: 1, items: { $ref: '#/components/schemas/InputPart' } },
        ],
      },
      clientTools: {
        type: 'array',
        description: 'Tools whose calls wait for a result of the client.',
        items: { $ref: '#/components/schemas/ClientTool' },
      },
      output,
    },
  },
  decisions: {
    type: 'object',
    required: ['decisions'],
    additionalProperties: false,
    properties: {
      decisions: {
        type: 'object',
        description: 'By call id.',
        additionalProperties: { $ref: '#/components/schemas/Decision' },
      },
      output,
    },
  },
  approval: {
    type: 'object',
    description: 'One of approve, deny and args, with the token of the call.',
    required: ['token'],
    additionalProperties: false,
    properties: {
      token: { type: 'string', minLength: 1 },
      approve: { const: true },
      deny: { type: 'string' },
      args: { type: 'object' },
      data: { description: 'For the layer that has suspended the call.' },
    },
  },
  steer: {
    type: 'object',
    required: ['message'],
    additionalProperties: false,
    properties: {
      message: {
        oneOf: [
          { type: 'string', minLength: 1 },
          { type: 'array', minItems: 1, items: { $ref: '#/components/schemas/InputPart' } },
        ],
      },
      id: {
        type: 'string',
        minLength: 1,
        maxLength: 256,
        description: 'What events name the message by, however often it is sent; without it a new one.',
      },
    },
  },
  fork: {
    type: 'object',
    additionalProperties: false,
    properties: {
      id: { type: 'string', description: 'The id of the new session; without it a new one.' },
      at: { type: 'string', description: 'The run after which it begins; without it at the end.' },
    },
  },
} as const

/** The names of the fields that a body takes. */
export function fieldsOf(name: keyof typeof bodies): readonly string[] {
  return Object.keys(bodies[name].properties)
}

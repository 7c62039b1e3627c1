import type { AnyTool } from 'allium'

/** It only pretends. */
export default {
  name: 'Bash',
  description: 'Runs a command',
  jsonSchema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
  execute: ({ command }: { command: string }) => `${command}: done`,
} satisfies AnyTool

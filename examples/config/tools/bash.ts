import type { AnyTool } from 'allium'

/** Runs nothing, and returns a fixed result. */
export default {
  name: 'Bash',
  description: 'Runs a command',
  jsonSchema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
  execute: ({ command }: { command: string }) => `${command}: done`,
} satisfies AnyTool

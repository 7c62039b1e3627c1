import { bundle } from './bundle.ts'

/** The lines with which a program imports Allium, by the name of their limit. The files are those of the built packages. */
const programs: Readonly<Record<string, readonly string[]>> = {
  'allium { Agent }': [`export { Agent } from './allium/dist/index.js'`],
  "the README's agent": [
    `export { Agent } from './allium/dist/index.js'`,
    `export { budget } from './allium/dist/guard.js'`,
    `export { retry } from './allium/dist/model.js'`,
    `export { usage } from './allium/dist/observe.js'`,
    `import * as tools from './allium/dist/tools.js'`,
    'export const tool = tools.function',
  ],
  'server { server }': [`export { server } from './server/dist/index.js'`],
  react: [`export * from './react/dist/index.js'`],
}

/** The bytes that each program loads at once, with its dependencies: its chunks without those that it imports later, gzipped together. */
export function programSizes(root: string): Readonly<Record<string, number>> {
  const sizes = Object.entries(programs).map(([name, lines]) => {
    const { bytes } = bundle(lines.join('\n'), `${root}/packages`, {
      platform: 'node',
      external: ['react', 'react-dom'],
    })
    return [name, bytes]
  })
  return Object.fromEntries(sizes)
}

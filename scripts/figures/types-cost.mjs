// Part of `npm run check`: what 200 chained `.use()` cost the compiler, in instantiations, which no machine changes.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'

/**
 * 1.3 × the 60,548 that it took at first (what the 200 layers and the imports take by themselves is taken off). A type that is
 * flattened, or an overload that is tried, at each step takes many times that, and fails for good near 50 layers (TS2589).
 */
const bound = 78_700
const layers = 200

const folder = 'packages/core/.cache/types-cost'
const chain = Array.from({ length: layers }, (_, i) => `.use(layer${i})`).join('\n  ')
const defined = Array.from(
  { length: layers },
  (_, i) =>
    `const layer${i} = defineMiddleware({ name: 'l${i}', state: { 'l${i}:n': { default: 0 } }, turn: (_ctx, next) => next() })`,
).join('\n')
const head = `import { Agent, defineMiddleware, type Model } from '../../src/index.ts'\ndeclare const model: Model\n`
const whole = `${head}${defined}\nexport const agent = new Agent({ model })\n  ${chain}\nexport const read = async () => (await agent.run('Hi')).state['l${layers - 1}:n'] + 1\n`

const cost = instantiations(whole) - instantiations(`${head}${defined}\nexport const agent = new Agent({ model })\n`)
console.log(`${layers} chained .use(): ${cost} instantiations; the bound is ${bound}.`)
process.exitCode = cost <= bound ? 0 : 1

function instantiations(text) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}/chain.ts`, text)
  writeFileSync(
    `${folder}/tsconfig.json`,
    JSON.stringify({
      extends: '../../../../scripts/tsconfig.base.json',
      compilerOptions: { noUnusedLocals: false },
      files: ['chain.ts'],
    }),
  )
  const { stdout } = spawnSync('tsc', ['-p', folder, '--extendedDiagnostics'], { encoding: 'utf8' })
  const [, found] = /^Instantiations:\s+(\d+)$/m.exec(stdout) ?? []
  if (found === undefined || stdout.includes('error TS')) throw new Error(`The chain does not compile:\n${stdout}`)
  return Number(found)
}

// Checks the tarballs of all packages with publint and Are The Types Wrong, after a build. All in one process: their commands would pack each
// package twice, and load TypeScript for each.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

/** What CommonJS and old resolution find: the packages are ES modules. */
const ignored = ['node10', 'node16-cjs']

const folder = mkdtempSync(join(tmpdir(), 'allium-tarballs-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const args = [
  '--recursive',
  '--filter=./packages/*',
  'pack',
  '--config.ignore-scripts=true',
  '--pack-destination',
  folder,
]
const { status } = spawnSync('pnpm', args, { stdio: ['ignore', 'ignore', 'inherit'] })
if (status !== 0) process.exit(status ?? 1)

const files = readdirSync(folder)
for (const file of files) {
  const tarball = readFileSync(join(folder, file))
  for (const fault of [...(await faultsOfPackage(tarball)), ...(await faultsOfTypes(tarball))]) {
    process.exitCode = 1
    console.error(`✗ ${file}: ${fault}`)
  }
}
console.log(`${files.length} packages checked with publint and Are The Types Wrong`)

async function faultsOfPackage({ buffer }) {
  const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true })
  return messages.filter(({ type }) => type === 'error').map((message) => formatMessage(message, pkg))
}

async function faultsOfTypes(tarball) {
  const { types, problems = [] } = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)))
  if (!types) return []
  return problems
    .filter(({ resolutionKind }) => !ignored.includes(resolutionKind))
    .map((problem) => JSON.stringify(problem))
}

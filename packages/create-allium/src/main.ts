import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as prompts from '@clack/prompts'
import { help, parseArguments, UsageError } from './arguments.ts'
import { Cancelled, choose } from './choices.ts'
import { nextSteps } from './next-steps.ts'
import { initGit, installDependencies, type PackageManager, packageManagerOf } from './package-manager.ts'
import { scaffold } from './scaffold.ts'

export interface Environment {
  cwd: string
  /** Whether prompts can ask. */
  interactive: boolean
  /** `npm_config_user_agent`: the package manager that runs the command. */
  userAgent: string | undefined
  /** Where the templates are. */
  templatesDir: string
  /** In a clone: the folder in which `npm run pack` puts the packages, until they are on npm. */
  tarballs?: string | undefined
}

const packageUrl = new URL('../package.json', import.meta.url)
export const templatesDir = fileURLToPath(new URL('./templates', import.meta.url))
const clone = new URL('../../../', import.meta.url)
export const tarballs = existsSync(new URL('scripts/build/pack.mjs', clone))
  ? fileURLToPath(new URL('tarballs', clone))
  : undefined

/** Creates a project and returns the exit code. */
export async function main(argv: readonly string[], environment: Environment): Promise<number> {
  try {
    return await create(argv, environment)
  } catch (error) {
    if (error instanceof Cancelled) {
      prompts.cancel('Nothing was created.')
      return 130
    }
    if (!(error instanceof UsageError)) throw error
    console.error(`${error.message}\n\nRun npm create allium@latest -- --help for all options.`)
    return 2
  }
}

async function create(argv: readonly string[], environment: Environment): Promise<number> {
  const args = parseArguments(argv)
  if (args.show === 'help') console.log(help)
  if (args.show === 'version') console.log(JSON.parse(readFileSync(packageUrl, 'utf8')).version)
  if (args.show !== undefined) return 0

  prompts.intro('Allium')
  const choices = await choose(args, environment)
  await scaffold(choices, environment.templatesDir)
  prompts.log.success(`Created ${choices.directory} from the template "${choices.template}".`)
  if (args.git) await initGit(choices.directory)

  const manager = packageManagerOf(environment.userAgent)
  const problem = args.install ? await install(manager, choices.directory, environment.interactive) : undefined
  const installed = args.install && problem === undefined
  prompts.note(nextSteps(choices, { cwd: environment.cwd, manager, installed, tarballs: environment.tarballs }), 'Next')
  prompts.outro(problem === undefined ? 'Done.' : 'The project is there, but its dependencies are not installed.')
  return problem === undefined ? 0 : 1
}

/** Returns why the dependencies could not be installed; undefined if they are. */
async function install(manager: PackageManager, directory: string, interactive: boolean): Promise<string | undefined> {
  const message = `Installing dependencies with ${manager}`
  const progress = interactive ? prompts.spinner() : undefined
  if (progress === undefined) prompts.log.step(message)
  progress?.start(message)
  try {
    await installDependencies(manager, directory)
    progress?.stop('Installed the dependencies.')
    return undefined
  } catch (error) {
    progress?.error(`${manager} install failed.`)
    prompts.log.error((error as Error).message)
    return (error as Error).message
  }
}

import { relative } from 'node:path'
import type { Choices } from './choices.ts'
import type { PackageManager } from './package-manager.ts'
import { providers } from './providers.ts'

/** Returns the commands that the user runs next. */
export function nextSteps(
  choices: Choices,
  options: { cwd: string; manager: PackageManager; installed: boolean; tarballs: string | undefined },
): string {
  const { directory, template, provider } = choices
  const { cwd, manager, installed, tarballs } = options
  const script = (name: string) =>
    manager === 'npm' ? `npm run ${name}` : `${manager} ${manager === 'bun' ? 'run ' : ''}${name}`
  const path = relative(cwd, directory)
  const { key } = providers[provider]
  // A pack that is published must not depend on tarballs.
  const save = template === 'pack' ? '--save-dev ' : ''
  return [
    ...(path === '' ? [] : [`cd ${/\s/.test(path) ? JSON.stringify(path) : path}`]),
    ...(installed
      ? []
      : [tarballs === undefined ? `${manager} install` : `npm install ${save}${relative(directory, tarballs)}/*.tgz`]),
    script(template === 'pack' ? 'test' : 'dev'),
    ...(template === 'saas' ? ['', `In a second terminal, ${script('inspect')} opens the inspector.`] : []),
    ...(template === 'pack' || process.env[key]
      ? []
      : ['', `${key} is not set, so a script answers. Copy .env.example to .env to use a model.`]),
  ].join('\n')
}

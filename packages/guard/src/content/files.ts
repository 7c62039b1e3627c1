import { defineMiddleware, layerOptions, misconfigured, option, type TypedMiddleware } from '@allium/core'
import { type FailureOptions, failureOptions, failurePolicy } from '../rules/failure-options.ts'
import { blockOptions } from '../rules/guard-codes.ts'
import { emitFound } from '../rules/guard-found.ts'
import { runCheck } from '../rules/run-check.ts'
import { matchesToolName } from '../rules/tool-names.ts'
import { filesOf, findProblem } from './file-parts.ts'
import { findPathProblem } from './path-arguments.ts'

export interface FilesOptions extends FailureOptions {
  /** Media types allowed in a message: `application/pdf`, `image/*`. @default PNG, JPEG, WebP, GIF, PDF and plain text */
  types?: readonly string[] | undefined
  /** The only extensions allowed for files and paths: `pdf`. @default any */
  extensions?: readonly string[] | undefined
  /** The maximum size of one file in bytes. @default 10_000_000 */
  maxBytes?: number | undefined
  /** The maximum number of files in one input. @default 10 */
  maxFiles?: number | undefined
  /** Files given by an https URL, whose content cannot be checked here. @default 'block' */
  onUrl?: 'block' | 'allow' | undefined
  /** The folder that paths in arguments are relative to and must stay in. */
  root?: string | undefined
  /**
   * The arguments that are paths or lists of paths, by tool; `*` matches any text. `edits.path` is nested in another argument, or in each
   * item of a list. @default none
   */
  pathArgs?: Readonly<Record<string, readonly string[]>> | undefined
  /**
   * Passes the checked path to the tool: absolute, with links resolved. Otherwise the tool must resolve it against `root` itself. @default
   * true
   */
  resolve?: boolean | undefined
  /** The layer's name. @default 'guard:files' */
  as?: string | undefined
}

const readOptions = layerOptions<FilesOptions>('guard:files', {
  types: option.some(option.text),
  extensions: option.some(option.text),
  maxBytes: option.number({ above: 0 }),
  maxFiles: option.number({ above: 0 }),
  onUrl: option.oneOf('block', 'allow'),
  root: option.text,
  pathArgs: option.record(option.list(option.text)),
  resolve: option.flag,
  ...failureOptions,
})

/**
 * Checks files: type, size and actual content of files that users send, and paths in tool arguments, which must stay in one
 * folder.
 *
 * A turn with a file that breaks a rule is blocked before anything else happens. A call with an invalid path is denied. It
 * fails closed: a file that cannot be checked is blocked.
 *
 * @throws AlliumError `layer.config` for limits that are not above 0, and for pathArgs without a root
 * @example
 * agent.use(guard.files({ types: ['image/*'], root: './uploads', pathArgs: { read_file: ['path'] } }))
 */
export function files(options: FilesOptions = {}): TypedMiddleware<{}> {
  const {
    types = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'application/pdf', 'text/plain'],
    extensions,
    maxBytes = 10_000_000,
    maxFiles = 10,
    onUrl = 'block',
    root,
    pathArgs = {},
    resolve = true,
    as = 'guard:files',
    ...failure
  } = readOptions(options)
  const toolArgs = Object.entries(pathArgs)
  const hasArgs = toolArgs.length > 0
  if (hasArgs !== (typeof root === 'string' && root !== ''))
    throw misconfigured(as, 'needs both root (a folder) and pathArgs (the path arguments by tool), or neither.')
  const guard = failurePolicy(as, failure)
  const partRules = { types, extensions, maxBytes, maxFiles, urls: onUrl }
  const pathRules = { layer: as, root: root ?? '', extensions, maxBytes, resolve }

  return defineMiddleware({
    name: as,
    order: { is: !hasArgs ? ['blocks'] : resolve ? ['authorizes', 'mutates'] : ['authorizes'] },
    innermost: true,
    inherit: true,
    turn(ctx, next) {
      let fileCount = 0
      ctx.onInput(async (message) => {
        const problem = await runCheck(ctx, guard, () => findProblem(message, partRules, fileCount))
        fileCount += filesOf(message.content).length
        if (problem === undefined) return
        const [kind, reason] = problem
        emitFound(ctx, { layer: as, where: 'input', found: kind, action: 'block' })
        ctx.block(reason, blockOptions('guard.files', guard))
      })
      return next()
    },
    ...(hasArgs && {
      guards: (name: string) => toolArgs.some(([tool]) => matchesToolName([tool], name)),
      async tool(ctx, next) {
        const paths = toolArgs.flatMap(([tool, names]) => (matchesToolName([tool], ctx.tool.name) ? names : []))
        const problem = await findPathProblem(ctx, paths, pathRules)
        return problem === undefined ? next() : ctx.deny(problem)
      },
    }),
  })
}

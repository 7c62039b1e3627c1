import { join } from 'node:path'
import ts from 'typescript'
import { root } from './pages.ts'
import type { Program } from './programs.ts'

/** What the compiler says of the programs, each with its page and line. One program over all, as strict as the packages. */
export function typeCheck(programs: readonly Program[]): string[] {
  const base = ts.readConfigFile(join(root, 'scripts/tsconfig.base.json'), ts.sys.readFile).config as object
  const { options } = ts.parseJsonConfigFileContent({ ...base, files: [] }, ts.sys, root)
  const compiled = ts.createProgram({
    rootNames: programs.map(({ file }) => file),
    options: {
      ...options,
      jsx: ts.JsxEmit.ReactJSX,
      moduleDetection: ts.ModuleDetectionKind.Force,
      noUnusedLocals: false,
    },
  })
  return programs.flatMap(({ file, page }) => {
    const source = compiled.getSourceFile(file)
    return [...compiled.getSyntacticDiagnostics(source), ...compiled.getSemanticDiagnostics(source)].map(
      ({ messageText, start = 0 }) => {
        const line = source === undefined ? 0 : source.getLineAndCharacterOfPosition(start).line + 1
        return `${page}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n  ')}`
      },
    )
  })
}

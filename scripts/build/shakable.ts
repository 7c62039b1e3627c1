import { readFile } from 'node:fs/promises'
import type { Plugin } from 'esbuild'
import ts from 'typescript'

/**
 * Lets bundlers drop the constants of a package that a program does not use. A bundler keeps a constant if computing it could have an
 * effect, such as `layerOptions({ … })` or `new RegExp(text)`. This plugin marks each of them as free of effects, as the `sideEffects`
 * of package.json do for whole files. The sources need no comments for it, and minified bundles do not grow.
 */
export const shakable: Plugin = {
  name: 'shakable',
  setup(build) {
    build.onLoad({ filter: /[\\/]src[\\/].*\.tsx?$/ }, async ({ path }) => {
      const contents = markConstants(await readFile(path, 'utf8'), path)
      return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts' }
    })
  },
}

/** Returns a source in which each constant of the module that is computed is the result of a function marked as pure. */
export function markConstants(text: string, path: string): string {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest)
  let marked = ''
  let end = 0
  for (const { pos, end: valueEnd } of computedConstants(source)) {
    marked += `${text.slice(end, pos)} /* @__PURE__ */ (() => (${text.slice(pos, valueEnd)}))()`
    end = valueEnd
  }
  return marked + text.slice(end)
}

function computedConstants(source: ts.SourceFile): ts.Expression[] {
  return source.statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => declarationList.declarations)
    .flatMap(({ name, initializer }) => (ts.isIdentifier(name) && initializer !== undefined ? [initializer] : []))
    .filter((value) => !isPlain(value) && !hasAwait(value))
}

/** Whether every bundler sees that an expression has no effect. */
function isPlain(value: ts.Expression): boolean {
  if (ts.isAsExpression(value) || ts.isSatisfiesExpression(value) || ts.isParenthesizedExpression(value))
    return isPlain(value.expression)
  if (ts.isArrayLiteralExpression(value)) return value.elements.every(isPlain)
  if (ts.isObjectLiteralExpression(value)) return value.properties.every(isPlainProperty)
  if (ts.isPrefixUnaryExpression(value)) return ts.isNumericLiteral(value.operand)
  return ts.isLiteralExpression(value) || plainKinds.has(value.kind)
}

function isPlainProperty(property: ts.ObjectLiteralElementLike): boolean {
  if (ts.isSpreadAssignment(property) || (property.name !== undefined && ts.isComputedPropertyName(property.name)))
    return false
  return !ts.isPropertyAssignment(property) || isPlain(property.initializer)
}

const plainKinds = new Set([
  ts.SyntaxKind.Identifier,
  ts.SyntaxKind.ArrowFunction,
  ts.SyntaxKind.FunctionExpression,
  ts.SyntaxKind.TrueKeyword,
  ts.SyntaxKind.FalseKeyword,
  ts.SyntaxKind.NullKeyword,
])

/** Whether an expression waits outside of its functions. A function around it could not. */
function hasAwait(node: ts.Node): boolean {
  if (ts.isAwaitExpression(node)) return true
  return !ts.isFunctionLike(node) && ts.forEachChild(node, (child) => hasAwait(child) || undefined) === true
}

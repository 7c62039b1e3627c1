import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCodes } from '@allium/core'
import * as guard from 'allium/guard'
import ts from 'typescript'
import { root } from './pages.ts'

const codes: ReadonlySet<string> = new Set<string>([...errorCodes, ...guard.guardCodes])
/** They compare a code, and write no message. */
const readers = ['isAlliumError', 'checkRejects']
const placeholder = '…'

/** Codes whose messages are values of a property, or arguments of a function, in another file. */
const elsewhere: readonly (readonly [code: string, file: string, name: string])[] = [
  ['layer.order', 'core/src/middleware/order.ts', 'message'],
  ['server.failed', 'server/src/http/problem.ts', '500'],
  ['config.env', 'config/src/source/interpolate.ts', 'fail'],
  ['tool.invalid', 'core/src/tool/registry.ts', 'fault'],
  ['tool.invalid', 'core/src/tool/json-schema.ts', 'message'],
  ['run.options', 'core/src/tool/json-schema.ts', 'message'],
  ['layer.config', 'core/src/errors/check-schema.ts', 'message'],
  ['state.invalid', 'core/src/errors/check-schema.ts', 'message'],
  ['session.principal', 'core/src/errors/check-schema.ts', 'message'],
  ['run.options', 'core/src/errors/check-schema.ts', 'message'],
]

/** The messages of each code, as the sources write them, with `…` for values. */
export function messagesByCode(): ReadonlyMap<string, readonly string[]> {
  const messages = new Map<string, Set<string>>([...codes].map((code) => [code, new Set()]))
  const add = (code: string, texts: readonly string[]) => {
    for (const text of texts) messages.get(code)?.add(text)
  }
  const files = sources()
  const wrappers = new Map<string, string>()
  for (const source of files)
    visit(source, (node) => {
      for (const code of codesOf(node)) {
        const texts = messagesOf(node)
        add(code, texts)
        const wrapper = texts.length === 0 ? enclosingFunction(node) : undefined
        if (wrapper !== undefined) wrappers.set(wrapper, code)
      }
    })
  for (const source of files)
    visit(source, (node) => {
      if (!ts.isCallExpression(node)) return
      const code = wrappers.get(node.expression.getText())
      if (code !== undefined)
        add(
          code,
          node.arguments.flatMap((argument) => textsOf(argument)),
        )
    })
  for (const [code, file, name] of elsewhere)
    for (const source of files.filter(({ fileName }) => fileName.endsWith(file)))
      visit(source, (node) => {
        if (ts.isPropertyAssignment(node) && node.name.getText() === name) add(code, textsOf(node.initializer))
        if (ts.isVariableDeclaration(node) && node.name.getText() === name && node.initializer !== undefined)
          add(code, textsOf(node.initializer))
        if (ts.isCallExpression(node) && node.expression.getText() === name)
          add(
            code,
            node.arguments.flatMap((argument) => textsOf(argument)),
          )
      })
  return new Map([...messages].map(([code, found]) => [code, [...found].sort()]))
}

/** The name of the function that a code is in, if it is a helper that takes the message. */
function enclosingFunction(node: ts.Node): string | undefined {
  let at: ts.Node | undefined = node
  while (at !== undefined && !ts.isFunctionDeclaration(at)) at = at.parent
  return at?.name?.text
}

function sources(): ts.SourceFile[] {
  const packages = join(root, 'packages')
  return readdirSync(packages)
    .filter((name) => name !== 'create-allium')
    .flatMap((name) => {
      const folder = join(packages, name, 'src')
      const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      return files.filter((file) => file.endsWith('.ts')).map((file) => join(folder, file))
    })
    .filter((file) => !file.includes('/conformance/') && !file.endsWith('/codes.ts'))
    .map((file) => ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true))
}

function visit(node: ts.Node, each: (node: ts.Node) => void): void {
  each(node)
  ts.forEachChild(node, (child) => visit(child, each))
}

/** A literal is one code; a template such as `${scope}.timeout` stands for all that end like it. */
function codesOf(node: ts.Node): string[] {
  if (ts.isStringLiteral(node)) return codes.has(node.text) ? [node.text] : []
  if (!ts.isTemplateExpression(node) || node.head.text !== '') return []
  const [span, ...more] = node.templateSpans
  const ending = more.length === 0 ? (span?.literal.text ?? '') : ''
  return /^\.[a-z_]+$/.test(ending) ? [...codes].filter((code) => code.endsWith(ending)) : []
}

/** The texts of the call, the object or the constructor that a code is given to. */
function messagesOf(code: ts.Node): string[] {
  let node = code.parent
  while (ts.isConditionalExpression(node) || ts.isParenthesizedExpression(node) || ts.isAsExpression(node))
    node = node.parent
  if (ts.isPropertyAssignment(node) && ts.isObjectLiteralExpression(node.parent))
    return node.parent.properties.flatMap((property) =>
      ts.isPropertyAssignment(property) ? textsOf(property.initializer) : [],
    )
  if (ts.isArrayLiteralExpression(node)) return node.elements.flatMap((element) => textsOf(element))
  if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return []
  const name = node.expression.getText()
  if (readers.includes(name)) return []
  if (name === 'checkOptions') return ['Unknown option "…". Did you mean …? / The option "…" is …, but must be ….']
  return (node.arguments ?? []).flatMap((argument) => (argument === code ? [] : textsOf(argument)))
}

/** The texts that an expression can have. */
function textsOf(node: ts.Node, depth = 0): string[] {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return sentences(node.text)
  if (ts.isTemplateExpression(node)) {
    const spans = node.templateSpans.map(({ literal }) => placeholder + literal.text)
    return sentences([node.head.text, ...spans].join(''))
  }
  if (ts.isConditionalExpression(node)) return [...textsOf(node.whenTrue, depth), ...textsOf(node.whenFalse, depth)]
  if (ts.isParenthesizedExpression(node)) return textsOf(node.expression, depth)
  if (ts.isBinaryExpression(node)) return joined(textsOf(node.left, depth), textsOf(node.right, depth))
  if (depth > 2) return []
  if (ts.isIdentifier(node)) return declaredTexts(node, node.text, depth)
  if (ts.isCallExpression(node) && ts.isIdentifier(node.expression))
    return declaredTexts(node, node.expression.text, depth)
  return []
}

/** Two parts of a sum: each text of the first with each of the second. */
function joined(left: readonly string[], right: readonly string[]): string[] {
  if (left.length === 0) return right.map((text) => placeholder + text)
  if (right.length === 0) return left.map((text) => text + placeholder)
  return left.flatMap((first) => right.map((second) => first + second))
}

/** The texts of a constant, or the texts that a function of the same file returns. */
function declaredTexts(from: ts.Node, name: string, depth: number): string[] {
  const found: string[] = []
  const look = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && node.name.getText() === name && node.initializer)
      found.push(...textsOf(node.initializer, depth + 1))
    if (ts.isFunctionDeclaration(node) && node.name?.text === name && node.body) {
      const returned = (inner: ts.Node): void => {
        if (ts.isReturnStatement(inner) && inner.expression) found.push(...textsOf(inner.expression, depth + 1))
        else ts.forEachChild(inner, returned)
      }
      returned(node.body)
    }
    ts.forEachChild(node, look)
  }
  look(from.getSourceFile())
  return found
}

/** Messages have several words. Names, scopes and paths among the arguments have none. */
function sentences(text: string): string[] {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.split(' ').length < 3 ? [] : [line]
}

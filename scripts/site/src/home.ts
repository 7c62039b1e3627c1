import { completeFences } from './fences.ts'
import { type LinkTargets, rewriteLinks } from './links.ts'

const head = `---
title: Allium
titleTemplate: Onion middleware for AI agents
source: README.md
sidebar: false
aside: false
pageClass: home
---

<div class="hero">

# Onion middleware for AI agents

<p class="tagline">Budgets, retries, policies, audit and redaction as layers around your agent. Your team writes them once, in TypeScript, and adds them with <code>.use()</code>.</p>
<p class="actions"><a href="/guide/getting-started">Get started</a><a href="/guide/tutorial-support-agent">A support agent in 15 minutes</a><a href="/overview">All pages</a></p>

</div>
`

/** The first page: the onion to play with, then the README's example and its reasons. */
export function homePage(readme: readonly string[], targets: Omit<LinkTargets, 'ending'>): string {
  const sections = ['## An example', '## Why Allium'].map((heading) => section(readme, heading))
  const prose = rewriteLinks(completeFences(sections.flat()), 'README.md', { ...targets, ending: '' })
  const onion = ['## Change the order of the layers', '', '<OnionPlayground />', '']
  return [head, ...onion, ...prose, ''].join('\n')
}

function section(lines: readonly string[], heading: string): readonly string[] {
  const start = lines.findIndex((line) => line.startsWith(heading))
  if (start < 0) throw new Error(`README.md has no section "${heading}". The first page of the site shows it.`)
  const end = lines.findIndex((line, at) => at > start && line.startsWith('## '))
  return lines.slice(start, end)
}

import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { type SkillsFolder, skillFile, skillsFolder } from './scene.ts'

let folder: SkillsFolder
beforeEach(async () => {
  folder = await skillsFolder()
})

describe('a folder that breaks the specification is an error at start, which names the file', () => {
  const bad = 'refunds/SKILL.md'
  it.each<[string, string, string | Uint8Array, string]>([
    ['no frontmatter', bad, 'Hello', '- refunds/SKILL.md has no frontmatter. Begin it with a line "---"'],
    ['frontmatter without end', bad, '---\nname: refunds\n', 'has no frontmatter.'],
    ['invalid YAML', bad, '---\nname: refunds\ndescription: Use when: ask\n---\nGo', 'has invalid YAML in line 3: '],
    ['no name', bad, '---\ndescription: Refunds\n---\nGo', 'has no "name" in its frontmatter. Add "name: …".'],
    ['no description', bad, '---\nname: refunds\n---\nGo', 'has no "description" in its frontmatter.'],
    [
      'an empty description',
      bad,
      '---\nname: refunds\ndescription: ""\n---\nGo',
      'has a "description" that is not a text.',
    ],
    ['a list as name', bad, '---\nname: [refunds]\ndescription: x\n---\nGo', 'has a "name" that is not a text.'],
    [
      'a long description',
      bad,
      skillFile('refunds', 'x'.repeat(1025)),
      'of 1025 characters, and 1024 are the maximum.',
    ],
    [
      'a long compatibility',
      bad,
      skillFile('refunds', 'x', 'Go', `compatibility: ${'x'.repeat(501)}\n`),
      'and 500 are',
    ],
    ['an uppercase name', bad, skillFile('Refunds', 'x'), 'has the name "Refunds". Use lowercase letters'],
    ['two hyphens', 're--funds/SKILL.md', skillFile('re--funds', 'x'), 'has the name "re--funds". Use lowercase'],
    [
      'another name than its folder',
      bad,
      skillFile('returns', 'x'),
      'has the name "returns", but its folder is "refunds".',
    ],
    ['metadata as a text', bad, skillFile('refunds', 'x', 'Go', 'metadata: 1\n'), 'has "metadata" that is no map.'],
    ['no text', bad, skillFile('refunds', 'x', ''), 'has no text after its frontmatter.'],
    ['other bytes than UTF-8', bad, new Uint8Array([45, 45, 45, 10, 255]), 'is not text in UTF-8.'],
    ['a size above the limit', bad, skillFile('refunds', 'x', 'x'.repeat(100_001)), 'is larger than 100000 bytes.'],
    [
      'a folder without SKILL.md',
      'notes/README.md',
      'Notes',
      '- notes/SKILL.md does not exist. Each folder in "dir" needs',
    ],
    ['a file with an odd name', 'refunds/a:b.md', 'x', '- refunds/a:b.md is no plain path below the folder.'],
    ['a name with %', 'refunds/%2e%2e.md', 'x', '- refunds/%2e%2e.md is no plain path below the folder.'],
  ])('%s', async (_, path, content, message) => {
    await folder.put(path, content)
    const error = await folder.startError()
    expect(error?.code).toBe('layer.config')
    expect(error?.message).toContain(message)
  })

  it('a link out of the folder, for a skill or a file', async () => {
    await symlink(folder.home, join(folder.dir, 'linked'))
    await symlink(folder.secret, join(folder.dir, 'refunds/secret.txt'))
    const error = await folder.startError()
    expect(error?.code).toBe('layer.config')
    expect(error?.message.split('\n')).toEqual([
      '"tools:skills" cannot use skills in "/skills":',
      '- linked leads out of the folder. Rename it, or put the folder itself there instead of a link.',
      '- refunds/secret.txt leads out of the folder. Remove or rename it.',
    ])
  })

  it('a folder that does not exist, has no skill, or lacks one of "include"', async () => {
    expect((await folder.startError({ dir: join(folder.home, 'none') }))?.message).toContain(
      'cannot open its folder "/none"',
    )
    expect((await folder.startError({ dir: join(folder.dir, 'refunds/references') }))?.message).toContain(
      'found no skill for the model',
    )
    expect((await folder.startError({ include: ['refund'] }))?.message).toContain('found no skill "refund"')
  })

  it('reads the folder again at the next start after an error', async () => {
    await folder.put('refunds/SKILL.md', 'Hello')
    const { agent } = folder.agentWith(['Hi.'])
    await expect(agent.init()).rejects.toThrow('has no frontmatter')
    await folder.put('refunds/SKILL.md', skillFile('refunds', 'Decides refunds.'))
    expect((await agent.run('Hello')).text).toBe('Hi.')
  })

  it('accepts Windows line ends, a byte order mark, comments, and fields of other programs', async () => {
    const file = `\uFEFF${skillFile('refunds', 'Decides refunds. # of money', 'Go.', 'version: 1.0\nallowed-tools: [Read, "Bash(git:*)"]\n')}`
    await folder.put('refunds/SKILL.md', file.replaceAll('\n', '\r\n'))
    expect((await folder.resultOf({ skill: 'refunds' }))?.content).toContain('<skill name="refunds">\nGo.\n</skill>')
  })

  it('does not expand aliases of YAML', async () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [${'*a,'.repeat(9)}*a]\nc: &c [${'*b,'.repeat(9)}*b]\nmetadata: {d: [*c,*c]}\n`
    await folder.put('refunds/SKILL.md', skillFile('refunds', 'x', 'Go', `${bomb}`))
    expect(await folder.startError()).toBeUndefined()
  })
})

/** Shapes of previews: what answers show, and what lists can be filtered by. */

import { z } from 'zod';
import { Checksum, choice, FieldErrorView, given, Id, Paging } from '../../http/schemas.ts';
import { FILE_CHANGE, FileChangeView } from '../shared/comparing.ts';
import { LEAF_CHANGE, LeafChangeView } from '../shared/leaf-changes.ts';
import { Count } from '../shared/preview-answers.ts';

const NodeRef = z.object({ nodeId: Id, fqdn: z.string() });

const Side = z
  .object({ configurationName: z.string(), version: z.string(), checksum: Checksum })
  .nullable()
  .meta({ description: 'Null where the nodes get nothing' });

const WEB_01 = { nodeId: '0b0e7a52-93f5-4b3e-9c8d-6d6d7b8a9f10', fqdn: 'web-01.example.org' };
const GROUP = {
  id: '1',
  nodeCount: 40,
  sampleNodes: [WEB_01],
  change: 'Changed' as const,
  before: {
    configurationName: 'web-server',
    version: '1.1.0',
    checksum: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  },
  after: {
    configurationName: 'web-server',
    version: '1.2.0',
    checksum: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
  },
  files: { added: 0, removed: 0, modified: 1, renamed: 0 },
  parameterChanges: 1,
  newProblems: [],
};

export const GroupView = z
  .object({
    id: z.string(),
    nodeCount: Count,
    sampleNodes: z.array(NodeRef).meta({ description: 'The first five by name' }),
    change: z.enum(['Changed', 'Unresolvable', 'Unchanged']).meta({
      description: 'Unchanged only where the preview is narrowed to some nodes',
    }),
    before: Side,
    after: Side,
    files: z.object({ added: Count, removed: Count, modified: Count, renamed: Count }),
    parameterChanges: Count,
    newProblems: z.array(FieldErrorView).meta({ description: 'Those that are not there before' }),
  })
  .meta({ id: 'PreviewGroup', examples: [GROUP] });

const Text = z.string().nullable();

export const GroupDetailsView = GroupView.extend({
  code: Text.meta({ description: 'Of an Unresolvable group: the code with which its nodes are answered' }),
  message: Text,
  fileChanges: z.array(FileChangeView).meta({ description: 'Of the whole bundle' }),
  parameters: z.array(LeafChangeView),
  mergedParameters: z
    .object({ before: Text, after: Text })
    .nullable()
    .meta({ description: 'YAML without secure values; null unless the preview is narrowed to some nodes' }),
}).meta({
  id: 'PreviewGroupDetails',
  examples: [
    {
      ...GROUP,
      ...{ code: null, message: null, fileChanges: [{ ...FILE_CHANGE, change: 'Modified' as const }] },
      parameters: [LEAF_CHANGE],
      mergedParameters: null,
    },
  ],
});

const NodeChange = ['Changed', 'Unchanged', 'Unresolvable'] as const;

export const PreviewNodeView = NodeRef.extend({
  groupId: z.string().nullable().meta({ description: 'Null for a node that nothing changes for' }),
  change: z.enum(NodeChange),
}).meta({ id: 'PreviewNode', examples: [{ ...WEB_01, groupId: '1', change: 'Changed' as const }] });

export const NodesOfPreview = Paging.extend({
  change: given(choice(...NodeChange)),
  groupId: given(z.string()),
});

/** `hawserctl scope`: the scope types, such as Environment, and their values, which nodes are tagged with. */

import { command } from '../declaration.ts';
import { findScopeType, findScopeValue, splitScope } from '../scopes.ts';

const list = command({
  path: 'scope list',
  summary: 'list the scope types by precedence, or the values of one',
  arguments: [{ name: 'type', summary: 'a scope type, such as Environment', isOptional: true }],
  examples: ['hawserctl scope list', 'hawserctl scope list Environment'],
  async run({ api, out, arguments: { type } }) {
    if (type === undefined) {
      const types = await api.all('/api/v1/scope-types');
      return out.answer(types, () =>
        out.table(
          types,
          [
            { title: 'NAME', cell: ({ name }) => name },
            { title: 'PRECEDENCE', cell: ({ precedence }) => precedence },
            { title: 'VALUES', cell: ({ valueMode }) => valueMode },
            { title: 'ENABLED', cell: ({ isEnabled }) => isEnabled },
            { title: 'DESCRIPTION', cell: ({ description }) => description },
          ],
          'There are no scope types.',
        ),
      );
    }
    const { id, name } = await findScopeType(api, type);
    const values = await api.all('/api/v1/scope-types/{scopeTypeId}/values', { path: { scopeTypeId: id } });
    out.answer(values, () =>
      out.table(
        values,
        [
          { title: 'VALUE', cell: ({ value }) => value },
          { title: 'DESCRIPTION', cell: ({ description }) => description },
        ],
        `${name} has no values.`,
      ),
    );
  },
});

const DESCRIPTION = { description: { value: 'TEXT', summary: 'what it is for' } } as const;

const create = command({
  path: 'scope create',
  summary: 'make a scope type, whose values override those of all others but Node',
  arguments: [{ name: 'name', summary: 'such as Environment' }],
  options: {
    ...DESCRIPTION,
    unrestricted: { summary: 'take any value: one that parameters name first is made on the way' },
  },
  examples: ['hawserctl scope create Environment --description "test or production"'],
  async run({ api, out, arguments: { name }, options }) {
    const { description, unrestricted } = options;
    const valueMode = unrestricted ? 'Unrestricted' : 'Restricted';
    const made = await api.post('/api/v1/scope-types', { json: { name, description, valueMode } });
    out.answer(made, () => {
      out.text(`The scope type ${made.name} is made.`);
      out.note(`Next: "hawserctl scope value ${made.name}/VALUE" gives it a value.`);
    });
  },
});

const value = command({
  path: 'scope value',
  summary: 'give a scope type a value, which nodes can be tagged with',
  arguments: [{ name: 'value', summary: 'as TYPE/VALUE, such as Environment/prod' }],
  options: DESCRIPTION,
  examples: ['hawserctl scope value Environment/prod'],
  async run({ api, out, arguments: given, options }) {
    const [typeName, wanted] = splitScope(given.value, 'The value');
    const type = await findScopeType(api, typeName);
    const made = await api.post('/api/v1/scope-types/{scopeTypeId}/values', {
      path: { scopeTypeId: type.id },
      json: { value: wanted ?? '', description: options.description },
    });
    out.answer(made, () => {
      out.text(`${type.name} has the value ${made.value} now.`);
      out.note(`Next: "hawserctl node tag NODE --value ${type.name}/${made.value}" tags a node with it.`);
    });
  },
});

const rename = command({
  path: 'scope rename',
  summary: 'give a scope type or a value another name, which all parameter repositories take over',
  arguments: [
    { name: 'scope', summary: 'a scope type, or TYPE/VALUE, such as Environment/prod' },
    { name: 'name', summary: 'the new name of the type or of the value' },
  ],
  examples: [
    'hawserctl scope rename Environment/prod production',
    'hawserctl scope rename Environment Stage',
  ],
  async run({ api, out, arguments: { scope, name } }) {
    const [, before] = splitScope(scope, 'The scope');
    if (before === null) {
      const { id, description, ...type } = await findScopeType(api, scope);
      const json = { name, description };
      const made = await api.put('/api/v1/scope-types/{id}', { path: { id }, json });
      return out.answer(made, () => out.text(`The scope type ${type.name} is ${made.name} now.`));
    }
    const { id, scopeTypeId, description, ...value } = await findScopeValue(api, scope, 'The scope');
    const json = { value: name, description };
    const path = { scopeTypeId, id };
    const made = await api.put('/api/v1/scope-types/{scopeTypeId}/values/{id}', { path, json });
    out.answer(made, () => out.text(`The scope value ${value.name} is ${made.value} now.`));
  },
});

export const SCOPE_COMMANDS = [list, create, value, rename];

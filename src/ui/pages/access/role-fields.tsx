/** The fields of a role: its name, and its permissions from the catalogue. */

import type { ApiProblem } from '../../client.ts';
import { Choose } from '../../components/choose.tsx';
import type { Edit } from '../../components/edit-form.tsx';
import { Field, TextField } from '../../components/field.tsx';
import { Part } from '../../components/page.tsx';
import { permissionItems, useCatalogue } from '../../components/permission-catalogue.ts';

export interface RoleContent {
  name: string;
  description: string;
  permissions: readonly string[];
}

export const NO_ROLE: RoleContent = { name: '', description: '', permissions: [] };

/** As the API takes it. */
export const roleBody = ({ description, ...content }: RoleContent) => ({
  ...content,
  description: description || null,
});

interface RoleFieldsProps {
  value: RoleContent;
  set: Edit<RoleContent>['set'];
  problem: ApiProblem | null;
}

export function RoleFields({ value, set, problem }: RoleFieldsProps) {
  const catalogue = useCatalogue();
  return (
    <>
      <Field
        label="Name"
        name="name"
        autocomplete="off"
        required
        problem={problem}
        value={value.name}
        onInput={(text) => set('name', text)}
      />
      <TextField
        label="Description"
        name="description"
        rows={2}
        problem={problem}
        value={value.description}
        onInput={(text) => set('description', text)}
      />
      <Part of={catalogue}>
        {(all) => (
          <Choose
            legend="Permissions"
            items={permissionItems(all)}
            chosen={new Set(value.permissions)}
            onChange={(chosen) =>
              // In the order of the catalogue, as the API gives them back.
              set(
                'permissions',
                all.map(({ name }) => name).filter((name) => chosen.has(name)),
              )
            }
          />
        )}
      </Part>
    </>
  );
}

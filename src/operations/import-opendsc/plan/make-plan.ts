/** Makes the plan of an import, in the order in which its deeds must be done. */

import { planComposites } from './composites.ts';
import { planConfigurations, planVersions } from './configurations.ts';
import { planAssignments, planGrants, planNodes, planTags } from './fleet.ts';
import { planParameters } from './parameters.ts';
import { planPeople } from './people.ts';
import { Plan, type PlanInput } from './plan.ts';
import { planScopes } from './scopes.ts';
import { planOwnSettings, planSettings } from './settings.ts';

/** Each kind comes after those that it hangs on. Nothing is read or written. */
export function makePlan(input: PlanInput): Plan {
  const plan = new Plan(input);
  planScopes(plan);
  planPeople(plan);
  planSettings(plan);
  planConfigurations(plan);
  planOwnSettings(plan);
  planVersions(plan);
  planNodes(plan);
  planParameters(plan);
  planComposites(plan);
  planTags(plan);
  planAssignments(plan);
  planGrants(plan);
  return plan;
}

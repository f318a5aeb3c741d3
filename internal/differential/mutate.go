package differential

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Mutator changes Pod templates at random. The same seed makes the same changes.
type Mutator struct {
	rand *rand.Rand
	// Log says what was changed, in order.
	Log []string
	// words are strings of the template at hand, so that names come to meet each other.
	words []string
}

// NewMutator returns a mutator that the seed decides.
func NewMutator(seed uint64) *Mutator {
	return &Mutator{rand: rand.New(rand.NewPCG(seed, 0))} //nolint:gosec // to be repeated, not to be secret
}

// Mutate makes one to six changes to t.
func (m *Mutator) Mutate(t *corev1.PodTemplateSpec) {
	m.words = m.words[:0]
	m.collect(reflect.ValueOf(t).Elem())
	for range 1 + m.rand.IntN(6) {
		m.change(reflect.ValueOf(t).Elem(), "")
	}
}

// collect gathers the strings in v.
func (m *Mutator) collect(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			m.collect(v.Elem())
		}
	case reflect.Struct:
		if !opaque(v.Type()) {
			for i := range v.NumField() {
				m.collect(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			m.collect(v.Index(i))
		}
	case reflect.String:
		if s := v.String(); s != "" && len(s) < 64 && !slices.Contains(m.words, s) {
			m.words = append(m.words, s)
		}
	}
}

func opaque(t reflect.Type) bool {
	switch t {
	case reflect.TypeFor[resource.Quantity](), reflect.TypeFor[metav1.Time](), reflect.TypeFor[intstr.IntOrString](),
		reflect.TypeFor[metav1.FieldsV1]():
		return true
	}
	return false
}

// change goes down from v by chance and changes something there.
func (m *Mutator) change(v reflect.Value, path string) {
	switch v.Type() {
	case reflect.TypeFor[resource.Quantity]():
		m.set(v, path, reflect.ValueOf(resource.MustParse(Pick(m, quantities))))
		return
	case reflect.TypeFor[intstr.IntOrString]():
		m.set(v, path, reflect.ValueOf(m.port()))
		return
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.FieldsV1]():
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		m.pointer(v, path)
	case reflect.Struct:
		f := m.fieldOf(v, path)
		m.change(v.FieldByName(f), path+"."+f)
	case reflect.Slice:
		m.slice(v, path)
	case reflect.Map:
		m.mapping(v, path)
	case reflect.String:
		m.set(v, path, reflect.ValueOf(m.word(v.Type())).Convert(v.Type()))
	case reflect.Bool:
		m.set(v, path, reflect.ValueOf(!v.Bool()).Convert(v.Type()))
	case reflect.Int32, reflect.Int64:
		m.set(v, path, reflect.ValueOf(Pick(m, numbers)).Convert(v.Type()))
	case reflect.Uint8:
		v.SetUint(uint64(m.rand.IntN(256))) //nolint:gosec // a byte
	}
}

func (m *Mutator) set(v reflect.Value, path string, to reflect.Value) {
	m.Log = append(m.Log, fmt.Sprintf("%s = %.80v", path, to))
	v.Set(to)
}

func (m *Mutator) pointer(v reflect.Value, path string) {
	if v.IsNil() {
		v.Set(m.fresh(v.Type().Elem(), path).Addr())
		return
	}
	if m.rand.IntN(6) == 0 {
		m.Log = append(m.Log, path+" = nil")
		v.SetZero()
		return
	}
	m.change(v.Elem(), path)
}

// fresh returns a value of the type with up to three changes from zero.
func (m *Mutator) fresh(t reflect.Type, path string) reflect.Value {
	m.Log = append(m.Log, path+" = new")
	v := reflect.New(t).Elem()
	if t.Kind() != reflect.Struct || opaque(t) {
		m.change(v, path)
		return v
	}
	for range m.rand.IntN(4) {
		m.change(v, path)
	}
	return v
}

// fieldOf picks a field of a struct, in a Pod mostly one of the long ones. Of the Pod's own metadata only
// labels and annotations are podrules' to judge, and ephemeral containers are not.
func (m *Mutator) fieldOf(v reflect.Value, path string) string {
	switch {
	case path == "":
		return Pick(m, []string{"ObjectMeta", "Spec", "Spec", "Spec", "Spec", "Spec", "Spec", "Spec"})
	case path == ".ObjectMeta":
		return Pick(m, []string{"Labels", "Annotations"})
	case path == ".Spec" && m.rand.IntN(2) == 0:
		return Pick(m, []string{
			"Containers", "Containers", "InitContainers", "Volumes", "Volumes", "SecurityContext", "Affinity", "TopologySpreadConstraints",
		})
	}
	for {
		f := v.Type().Field(m.rand.IntN(v.NumField()))
		if f.IsExported() && f.Name != "EphemeralContainers" {
			return f.Name
		}
	}
}

func (m *Mutator) slice(v reflect.Value, path string) {
	n := v.Len()
	if n > 0 && m.rand.IntN(10) < 6 {
		i := m.rand.IntN(n)
		m.change(v.Index(i), fmt.Sprintf("%s[%d]", path, i))
		return
	}
	switch op := m.rand.IntN(8); {
	case op < 4 || n == 0 && op < 7:
		v.Set(reflect.Append(v, m.fresh(v.Type().Elem(), fmt.Sprintf("%s[%d]", path, n))))
	case op < 6 && n > 0:
		i := m.rand.IntN(n)
		m.Log = append(m.Log, fmt.Sprintf("%s += copy of %d", path, i))
		v.Set(reflect.Append(v, deepCopy(v.Index(i))))
	case op == 6 && n > 0:
		i := m.rand.IntN(n)
		m.Log = append(m.Log, fmt.Sprintf("%s -= %d", path, i))
		v.Set(reflect.AppendSlice(v.Slice3(0, i, i), v.Slice(i+1, n)))
	case m.rand.IntN(2) == 0:
		m.Log = append(m.Log, path+" = []")
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	default:
		m.Log = append(m.Log, path+" = many")
		for range 1 + m.rand.IntN(40) {
			v.Set(reflect.Append(v, m.fresh(v.Type().Elem(), path+"[]")))
		}
	}
}

// deepCopy copies a value so that a change to one does not reach the other.
func deepCopy(v reflect.Value) reflect.Value {
	if f := v.Addr().MethodByName("DeepCopy"); f.IsValid() {
		return f.Call(nil)[0].Elem()
	}
	return v
}

func (m *Mutator) mapping(v reflect.Value, path string) {
	if v.Len() > 0 && m.rand.IntN(5) == 0 {
		k := v.MapKeys()[0]
		m.Log = append(m.Log, fmt.Sprintf("%s -= %v", path, k))
		v.SetMapIndex(k, reflect.Value{})
		return
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	k := reflect.ValueOf(m.mapKey(v.Type(), path)).Convert(v.Type().Key())
	val := reflect.New(v.Type().Elem()).Elem()
	if strings.HasSuffix(path, "Annotations") && m.rand.IntN(2) == 0 {
		val.SetString(Pick(m, annotationValues))
	} else {
		m.change(val, fmt.Sprintf("%s[%v]", path, k))
	}
	m.Log = append(m.Log, fmt.Sprintf("%s[%.80v] = %.80v", path, k, val))
	v.SetMapIndex(k, val)
}

func (m *Mutator) mapKey(t reflect.Type, path string) string {
	switch {
	case t == reflect.TypeFor[corev1.ResourceList]() && m.rand.IntN(10) > 0:
		return Pick(m, resourceNames)
	case strings.HasSuffix(path, "Annotations") && m.rand.IntN(2) == 0:
		key := Pick(m, annotationKeys)
		if strings.HasSuffix(key, "/") && len(m.words) > 0 {
			key += Pick(m, m.words)
		}
		return key
	}
	return m.word(t.Key())
}

// word returns a string for a field of the type: a value that the type knows, a word of the template, or
// one of the strings that trouble parsers.
func (m *Mutator) word(t reflect.Type) string {
	values := enums[t]
	switch n := m.rand.IntN(10); {
	case len(values) > 0 && n < 7:
		return Pick(m, values)
	case len(m.words) > 0 && n < 4:
		return Pick(m, m.words)
	default:
		return Pick(m, strange)
	}
}

func (m *Mutator) port() intstr.IntOrString {
	if m.rand.IntN(2) == 0 {
		return intstr.FromInt32(int32(Pick(m, numbers))) //nolint:gosec // an overflow is one more number
	}
	return intstr.FromString(m.word(reflect.TypeFor[string]()))
}

// Pick returns one of a list.
func Pick[T any](m *Mutator, from []T) T {
	return from[m.rand.IntN(len(from))]
}

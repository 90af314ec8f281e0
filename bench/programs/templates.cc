// templates.cc SECONDS - a C++ program of templates with deep stacks and many inlined functions:
// regular expressions, trees of variants, sorting. It ends after that CPU time.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

struct Tree;
using Value = std::variant<double, std::string, std::vector<std::shared_ptr<Tree>>>;

struct Tree {
	std::map<std::string, Value> members;
};

static std::shared_ptr<Tree> grow(unsigned depth, unsigned seed)
{
	auto tree = std::make_shared<Tree>();

	tree->members["number"] = seed * 1.5;
	tree->members["text"] = "node " + std::to_string(seed);
	if (depth) {
		std::vector<std::shared_ptr<Tree>> below;

		for (unsigned i = 0; i < 3; i++)
			below.push_back(grow(depth - 1, seed * 3 + i));
		tree->members["below"] = std::move(below);
	}
	return tree;
}

static double sum(const Tree &tree)
{
	return std::accumulate(tree.members.begin(), tree.members.end(), 0.0,
		[](double so_far, const auto &member) {
			return so_far + std::visit([](const auto &value) -> double {
				using T = std::decay_t<decltype(value)>;

				if constexpr (std::is_same_v<T, double>)
					return value;
				else if constexpr (std::is_same_v<T, std::string>)
					return double(value.size());
				else
					return std::accumulate(value.begin(), value.end(), 0.0,
						[](double s, const auto &t) { return s + sum(*t); });
			}, member.second);
		});
}

static void print(std::ostream &out, const Tree &tree)
{
	for (const auto &[name, value] : tree.members) {
		out << name << '=';
		if (const auto *below = std::get_if<std::vector<std::shared_ptr<Tree>>>(&value))
			for (const auto &t : *below)
				print(out, *t);
		else if (const auto *text = std::get_if<std::string>(&value))
			out << *text << ';';
		else
			out << std::get<double>(value) << ';';
	}
}

static size_t search(const std::string &text)
{
	static const std::regex pattern("(node|text)\\s*=?\\s*([0-9]+)(;|$)|number=([0-9.e+]+)");
	size_t found = 0;

	for (std::sregex_iterator i(text.begin(), text.end(), pattern), end; i != end; ++i)
		found += i->str(0).size();
	return found;
}

static size_t sort_words(const std::string &text)
{
	std::vector<std::string> words;
	std::istringstream in(text);
	std::function<bool(const std::string &, const std::string &)> less =
		[](const auto &a, const auto &b) { return a.size() < b.size() || (a.size() == b.size() && a < b); };

	for (std::string word; std::getline(in, word, ';');)
		words.push_back(word);
	std::stable_sort(words.begin(), words.end(), less);
	return words.empty() ? 0 : words.back().size();
}

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
	double total = 0;

	for (unsigned i = 0; double(std::clock()) / CLOCKS_PER_SEC < seconds; i++) {
		const auto tree = grow(5, i);
		std::ostringstream out;

		print(out, *tree);
		total += sum(*tree) + double(search(out.str()) + sort_words(out.str()));
	}
	return total < 0;
}
